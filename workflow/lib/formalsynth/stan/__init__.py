"""CmdStan: find or install it (``install``), compile a program (``compile``), sample (``sample``) and evaluate (``generate``).

A compiled program has a main function of our own (``main.cpp``), which answers many requests in one process (``served``). A
process for each fit takes 1.6 to 2.1 times as long, because it starts again and passes draws through files. Where a program does
not serve, or fails, CmdStan's command line (``command``) answers the request, with the same draws bit by bit.
"""
