#!/bin/sh
# Reports if a Slurm job is running, a success or failed. Slurm forgets ended jobs after minutes (MinJobAge); from then
# on only its accounting knows, where there is one. Of what nobody knows, nothing is left to wait for. When Slurm does not
# answer, there is.
if answer=$(scontrol --oneliner show job "$1" 2>&1); then
  state=$(printf '%s\n' "$answer" | sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p')
else
  case $answer in
    *"Invalid job id"*)
      state=$(sacct --allocations --noheader --parsable2 --jobs="$1" --format=State 2>/dev/null | sed 's/ .*//;q')
      state=${state:-FORGOTTEN} ;;
    *) state=UNANSWERED ;;
  esac
fi

case $state in
  COMPLETED) echo success ;;
  BOOT_FAIL | CANCELLED | DEADLINE | FAILED | FORGOTTEN | NODE_FAIL | OUT_OF_MEMORY | REVOKED | TIMEOUT) echo failed ;;
  *) echo running ;;
esac
