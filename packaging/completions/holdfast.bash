# bash completion for holdfast; made by 'holdfast completion bash'
_holdfast() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local path="" next words="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="${path:+$path }${COMP_WORDS[i]}"
    case "$next" in
      "task") path=$next ;;
      "task add") path=$next ;;
      "task list") path=$next ;;
      "task show") path=$next ;;
      "task explain") path=$next ;;
      "task logs") path=$next ;;
      "task retry") path=$next ;;
      "task cancel") path=$next ;;
      "queue") path=$next ;;
      "queue status") path=$next ;;
      "queue pause") path=$next ;;
      "queue resume") path=$next ;;
      "queue recover") path=$next ;;
      "queue recovery-status") path=$next ;;
      "queue recovery-report") path=$next ;;
      "queue metrics") path=$next ;;
      "schedule") path=$next ;;
      "schedule add") path=$next ;;
      "schedule list") path=$next ;;
      "schedule pause") path=$next ;;
      "schedule resume") path=$next ;;
      "schedule remove") path=$next ;;
      "limit") path=$next ;;
      "limit set") path=$next ;;
      "limit list") path=$next ;;
      "limit remove") path=$next ;;
      "worker") path=$next ;;
      "worker run") path=$next ;;
      "worker list") path=$next ;;
      "config") path=$next ;;
      "config check") path=$next ;;
      "doctor") path=$next ;;
      "migrate") path=$next ;;
      "backup") path=$next ;;
      "restore") path=$next ;;
      "demo") path=$next ;;
      "version") path=$next ;;
      "help") path=$next ;;
      "completion") path=$next ;;
    esac
  done
  case "$path" in
    "") words="task queue schedule limit worker config doctor migrate backup restore demo version help completion --help --store --config --version --json --quiet" ;;
    "task") words="add list show explain logs retry cancel --help --store --config --version --json --quiet" ;;
    "task add") words="--help --queue --priority --max-attempts --unique --limit-key --tag --delay --at --timeout --after --count --file --store --config --version --json --quiet" ;;
    "task list") words="--help --status --state --queue --kind --tag --priority --since --limit --offset --reverse --store --config --version --json --quiet" ;;
    "task show") words="--help --store --config --version --json --quiet" ;;
    "task explain") words="--help --store --config --version --json --quiet" ;;
    "task logs") words="--help --store --config --version --json --quiet" ;;
    "task retry") words="--help --status --state --queue --kind --tag --priority --since --all --yes --store --config --version --json --quiet" ;;
    "task cancel") words="--help --status --state --queue --kind --tag --priority --since --all --yes --force --store --config --version --json --quiet" ;;
    "queue") words="status pause resume recover recovery-status recovery-report metrics --help --store --config --version --json --quiet" ;;
    "queue status") words="--help --store --config --version --json --quiet" ;;
    "queue pause") words="--help --store --config --version --json --quiet" ;;
    "queue resume") words="--help --store --config --version --json --quiet" ;;
    "queue recover") words="--help --action --dry-run --store --config --version --json --quiet" ;;
    "queue recovery-status") words="--help --store --config --version --json --quiet" ;;
    "queue recovery-report") words="--help --last --store --config --version --json --quiet" ;;
    "queue metrics") words="--help --store --config --version --json --quiet" ;;
    "schedule") words="add list pause resume remove --help --store --config --version --json --quiet" ;;
    "schedule add") words="--help --zone --missed --queue --priority --max-attempts --unique --limit-key --tag --delay --timeout --store --config --version --json --quiet" ;;
    "schedule list") words="--help --store --config --version --json --quiet" ;;
    "schedule pause") words="--help --store --config --version --json --quiet" ;;
    "schedule resume") words="--help --store --config --version --json --quiet" ;;
    "schedule remove") words="--help --store --config --version --json --quiet" ;;
    "limit") words="set list remove --help --store --config --version --json --quiet" ;;
    "limit set") words="queue kind key --help --max-running --rate --burst --store --config --version --json --quiet" ;;
    "limit list") words="--help --store --config --version --json --quiet" ;;
    "limit remove") words="queue kind key --help --store --config --version --json --quiet" ;;
    "worker") words="run list --help --store --config --version --json --quiet" ;;
    "worker run") words="--help --exec --kind --queue --concurrency --metrics-file --until-empty --store --config --version --json --quiet" ;;
    "worker list") words="--help --show-heartbeat --state --store --config --version --json --quiet" ;;
    "config") words="check --help --store --config --version --json --quiet" ;;
    "config check") words="--help --store --config --version --json --quiet" ;;
    "doctor") words="--help --full --accept-loss --store --config --version --json --quiet" ;;
    "migrate") words="--help --print --store --config --version --json --quiet" ;;
    "backup") words="--help --force --store --config --version --json --quiet" ;;
    "restore") words="--help --force --store --config --version --json --quiet" ;;
    "demo") words="--help --seconds --workers --seed --keep --store --config --version --json --quiet" ;;
    "version") words="--help --store --config --version --json --quiet" ;;
    "help") words="--help --store --config --version --json --quiet" ;;
    "completion") words="bash zsh fish --help --store --config --version --json --quiet" ;;
  esac
  case "$path${path:+ }$prev" in
    ""*--store) return ;;
    ""*--config) compopt -o default; return ;;
    "task add "--queue) return ;;
    "task add "--priority) return ;;
    "task add "--max-attempts) return ;;
    "task add "--unique) return ;;
    "task add "--limit-key) return ;;
    "task add "--tag) return ;;
    "task add "--delay) return ;;
    "task add "--at) return ;;
    "task add "--timeout) return ;;
    "task add "--after) return ;;
    "task add "--count) return ;;
    "task add "--file) compopt -o default; return ;;
    "task list "--status) words="pending running completed failed cancelled blocked held" ;;
    "task list "--state) words="pending running completed failed cancelled blocked held" ;;
    "task list "--queue) return ;;
    "task list "--kind) return ;;
    "task list "--tag) return ;;
    "task list "--priority) return ;;
    "task list "--since) return ;;
    "task list "--limit) return ;;
    "task list "--offset) return ;;
    "task retry "--status) words="pending running completed failed cancelled blocked held" ;;
    "task retry "--state) words="pending running completed failed cancelled blocked held" ;;
    "task retry "--queue) return ;;
    "task retry "--kind) return ;;
    "task retry "--tag) return ;;
    "task retry "--priority) return ;;
    "task retry "--since) return ;;
    "task cancel "--status) words="pending running completed failed cancelled blocked held" ;;
    "task cancel "--state) words="pending running completed failed cancelled blocked held" ;;
    "task cancel "--queue) return ;;
    "task cancel "--kind) return ;;
    "task cancel "--tag) return ;;
    "task cancel "--priority) return ;;
    "task cancel "--since) return ;;
    "queue recover "--action) words="retry fail pending" ;;
    "queue recovery-report "--last) return ;;
    "schedule add "--zone) return ;;
    "schedule add "--missed) words="skip once all" ;;
    "schedule add "--queue) return ;;
    "schedule add "--priority) return ;;
    "schedule add "--max-attempts) return ;;
    "schedule add "--unique) return ;;
    "schedule add "--limit-key) return ;;
    "schedule add "--tag) return ;;
    "schedule add "--delay) return ;;
    "schedule add "--timeout) return ;;
    "limit set "--max-running) return ;;
    "limit set "--rate) return ;;
    "limit set "--burst) return ;;
    "worker run "--exec) return ;;
    "worker run "--kind) return ;;
    "worker run "--queue) return ;;
    "worker run "--concurrency) return ;;
    "worker run "--metrics-file) compopt -o default; return ;;
    "worker list "--state) words="running stopped dead" ;;
    "demo "--seconds) return ;;
    "demo "--workers) return ;;
    "demo "--seed) return ;;
    "demo "--keep) return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _holdfast holdfast
