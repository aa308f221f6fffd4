#compdef holdfast
# zsh completion for holdfast; made by 'holdfast completion zsh'
_holdfast() {
  local path_="" next i found=1
  local -a commands options choices everywhere
  everywhere=(
        '--help:Print this help message and exit'
        '--store:Address of the store; default\: the configuration'\''s, else sqlite\:holdfast.db'
        '--config:Configuration file (YAML)'
        '--version:Print the version'
        '--json:Print JSON\: one object a line'
        '--quiet:Print results only, no confirmations')
  for ((i = 2; i < CURRENT; i++)); do
    next="${path_:+$path_ }${words[i]}"
    case "$next" in
      "task") path_=$next ;;
      "task add") path_=$next ;;
      "task list") path_=$next ;;
      "task show") path_=$next ;;
      "task explain") path_=$next ;;
      "task logs") path_=$next ;;
      "task retry") path_=$next ;;
      "task cancel") path_=$next ;;
      "queue") path_=$next ;;
      "queue status") path_=$next ;;
      "queue pause") path_=$next ;;
      "queue resume") path_=$next ;;
      "queue recover") path_=$next ;;
      "queue recovery-status") path_=$next ;;
      "queue recovery-report") path_=$next ;;
      "queue metrics") path_=$next ;;
      "schedule") path_=$next ;;
      "schedule add") path_=$next ;;
      "schedule list") path_=$next ;;
      "schedule pause") path_=$next ;;
      "schedule resume") path_=$next ;;
      "schedule remove") path_=$next ;;
      "limit") path_=$next ;;
      "limit set") path_=$next ;;
      "limit list") path_=$next ;;
      "limit remove") path_=$next ;;
      "worker") path_=$next ;;
      "worker run") path_=$next ;;
      "worker list") path_=$next ;;
      "http") path_=$next ;;
      "http get") path_=$next ;;
      "http post") path_=$next ;;
      "http put") path_=$next ;;
      "http patch") path_=$next ;;
      "http delete") path_=$next ;;
      "http head") path_=$next ;;
      "http run") path_=$next ;;
      "http list") path_=$next ;;
      "http stats") path_=$next ;;
      "tx") path_=$next ;;
      "tx start") path_=$next ;;
      "tx list") path_=$next ;;
      "tx show") path_=$next ;;
      "tx cancel") path_=$next ;;
      "tx retry") path_=$next ;;
      "tx signal") path_=$next ;;
      "tx cleanup") path_=$next ;;
      "results") path_=$next ;;
      "results run") path_=$next ;;
      "results send") path_=$next ;;
      "results receive") path_=$next ;;
      "results dead-letters") path_=$next ;;
      "results dead-letters list") path_=$next ;;
      "results dead-letters show") path_=$next ;;
      "results dead-letters replay") path_=$next ;;
      "results dead-letters discard") path_=$next ;;
      "batch") path_=$next ;;
      "batch submit") path_=$next ;;
      "batch append") path_=$next ;;
      "batch watch") path_=$next ;;
      "batch release") path_=$next ;;
      "batch abort") path_=$next ;;
      "batch status") path_=$next ;;
      "batch rows") path_=$next ;;
      "batch output") path_=$next ;;
      "batch run") path_=$next ;;
      "batch recover") path_=$next ;;
      "batch list") path_=$next ;;
      "serve") path_=$next ;;
      "user") path_=$next ;;
      "user add") path_=$next ;;
      "user list") path_=$next ;;
      "user remove") path_=$next ;;
      "token") path_=$next ;;
      "token add") path_=$next ;;
      "token list") path_=$next ;;
      "token revoke") path_=$next ;;
      "top") path_=$next ;;
      "config") path_=$next ;;
      "config check") path_=$next ;;
      "doctor") path_=$next ;;
      "migrate") path_=$next ;;
      "move") path_=$next ;;
      "backup") path_=$next ;;
      "restore") path_=$next ;;
      "demo") path_=$next ;;
      "version") path_=$next ;;
      "help") path_=$next ;;
      "completion") path_=$next ;;
    esac
  done
  case "$path_ ${words[CURRENT - 1]}" in
    *--store) return ;;
    *--config) _files; return ;;
    "task add --queue") return ;;
    "task add --priority") return ;;
    "task add --unique") return ;;
    "task add --limit-key") return ;;
    "task add --tag") return ;;
    "task add --max-attempts") return ;;
    "task add --delay") return ;;
    "task add --at") return ;;
    "task add --timeout") return ;;
    "task add --after") return ;;
    "task add --traceparent") return ;;
    "task add --count") return ;;
    "task add --file") _files; return ;;
    "task list --status") compadd -- pending running completed failed cancelled blocked held; return ;;
    "task list --state") compadd -- pending running completed failed cancelled blocked held; return ;;
    "task list --queue") return ;;
    "task list --kind") return ;;
    "task list --tag") return ;;
    "task list --priority") return ;;
    "task list --since") return ;;
    "task list --limit") return ;;
    "task list --offset") return ;;
    "task show --blobs") return ;;
    "task show --blob-mode") compadd -- 0600 0640; return ;;
    "task show --payload-key") return ;;
    "task retry --status") compadd -- pending running completed failed cancelled blocked held; return ;;
    "task retry --state") compadd -- pending running completed failed cancelled blocked held; return ;;
    "task retry --queue") return ;;
    "task retry --kind") return ;;
    "task retry --tag") return ;;
    "task retry --priority") return ;;
    "task retry --since") return ;;
    "task cancel --status") compadd -- pending running completed failed cancelled blocked held; return ;;
    "task cancel --state") compadd -- pending running completed failed cancelled blocked held; return ;;
    "task cancel --queue") return ;;
    "task cancel --kind") return ;;
    "task cancel --tag") return ;;
    "task cancel --priority") return ;;
    "task cancel --since") return ;;
    "queue recover --action") compadd -- retry fail pending; return ;;
    "queue recovery-report --last") return ;;
    "schedule add --zone") return ;;
    "schedule add --missed") compadd -- skip once all; return ;;
    "schedule add --queue") return ;;
    "schedule add --priority") return ;;
    "schedule add --unique") return ;;
    "schedule add --limit-key") return ;;
    "schedule add --tag") return ;;
    "schedule add --max-attempts") return ;;
    "schedule add --delay") return ;;
    "schedule add --timeout") return ;;
    "limit set --max-running") return ;;
    "limit set --rate") return ;;
    "limit set --burst") return ;;
    "worker run --exec") return ;;
    "worker run --kind") return ;;
    "worker run --queue") return ;;
    "worker run --concurrency") return ;;
    "worker run --metrics-file") _files; return ;;
    "worker run --pass-env") return ;;
    "worker run --blobs") return ;;
    "worker run --blob-mode") compadd -- 0600 0640; return ;;
    "worker run --payload-key") return ;;
    "worker run --require-sealed") return ;;
    "worker run --otlp") return ;;
    "worker run --log-format") compadd -- text json; return ;;
    "worker list --state") compadd -- running stopped dead; return ;;
    "http get --header") return ;;
    "http get --secret-header") return ;;
    "http get --param") return ;;
    "http get --timeout") return ;;
    "http get --host-patience") return ;;
    "http get --max-redirects") return ;;
    "http get --attempts") return ;;
    "http get --sign-with") return ;;
    "http get --callback") return ;;
    "http get --callback-queue") return ;;
    "http get --context") return ;;
    "http get --queue") return ;;
    "http get --priority") return ;;
    "http get --unique") return ;;
    "http get --limit-key") return ;;
    "http get --tag") return ;;
    "http get --delay") return ;;
    "http get --allow") return ;;
    "http get --proxy") return ;;
    "http get --ca-file") _files; return ;;
    "http get --secrets") return ;;
    "http get --signing-key") return ;;
    "http get --blobs") return ;;
    "http get --blob-mode") compadd -- 0600 0640; return ;;
    "http get --payload-key") return ;;
    "http get --blob-threshold") return ;;
    "http post --header") return ;;
    "http post --secret-header") return ;;
    "http post --param") return ;;
    "http post --data") return ;;
    "http post --data-file") _files; return ;;
    "http post --timeout") return ;;
    "http post --host-patience") return ;;
    "http post --max-redirects") return ;;
    "http post --attempts") return ;;
    "http post --sign-with") return ;;
    "http post --callback") return ;;
    "http post --callback-queue") return ;;
    "http post --context") return ;;
    "http post --queue") return ;;
    "http post --priority") return ;;
    "http post --unique") return ;;
    "http post --limit-key") return ;;
    "http post --tag") return ;;
    "http post --delay") return ;;
    "http post --allow") return ;;
    "http post --proxy") return ;;
    "http post --ca-file") _files; return ;;
    "http post --secrets") return ;;
    "http post --signing-key") return ;;
    "http post --blobs") return ;;
    "http post --blob-mode") compadd -- 0600 0640; return ;;
    "http post --payload-key") return ;;
    "http post --blob-threshold") return ;;
    "http put --header") return ;;
    "http put --secret-header") return ;;
    "http put --param") return ;;
    "http put --data") return ;;
    "http put --data-file") _files; return ;;
    "http put --timeout") return ;;
    "http put --host-patience") return ;;
    "http put --max-redirects") return ;;
    "http put --attempts") return ;;
    "http put --sign-with") return ;;
    "http put --callback") return ;;
    "http put --callback-queue") return ;;
    "http put --context") return ;;
    "http put --queue") return ;;
    "http put --priority") return ;;
    "http put --unique") return ;;
    "http put --limit-key") return ;;
    "http put --tag") return ;;
    "http put --delay") return ;;
    "http put --allow") return ;;
    "http put --proxy") return ;;
    "http put --ca-file") _files; return ;;
    "http put --secrets") return ;;
    "http put --signing-key") return ;;
    "http put --blobs") return ;;
    "http put --blob-mode") compadd -- 0600 0640; return ;;
    "http put --payload-key") return ;;
    "http put --blob-threshold") return ;;
    "http patch --header") return ;;
    "http patch --secret-header") return ;;
    "http patch --param") return ;;
    "http patch --data") return ;;
    "http patch --data-file") _files; return ;;
    "http patch --timeout") return ;;
    "http patch --host-patience") return ;;
    "http patch --max-redirects") return ;;
    "http patch --attempts") return ;;
    "http patch --sign-with") return ;;
    "http patch --callback") return ;;
    "http patch --callback-queue") return ;;
    "http patch --context") return ;;
    "http patch --queue") return ;;
    "http patch --priority") return ;;
    "http patch --unique") return ;;
    "http patch --limit-key") return ;;
    "http patch --tag") return ;;
    "http patch --delay") return ;;
    "http patch --allow") return ;;
    "http patch --proxy") return ;;
    "http patch --ca-file") _files; return ;;
    "http patch --secrets") return ;;
    "http patch --signing-key") return ;;
    "http patch --blobs") return ;;
    "http patch --blob-mode") compadd -- 0600 0640; return ;;
    "http patch --payload-key") return ;;
    "http patch --blob-threshold") return ;;
    "http delete --header") return ;;
    "http delete --secret-header") return ;;
    "http delete --param") return ;;
    "http delete --timeout") return ;;
    "http delete --host-patience") return ;;
    "http delete --max-redirects") return ;;
    "http delete --attempts") return ;;
    "http delete --sign-with") return ;;
    "http delete --callback") return ;;
    "http delete --callback-queue") return ;;
    "http delete --context") return ;;
    "http delete --queue") return ;;
    "http delete --priority") return ;;
    "http delete --unique") return ;;
    "http delete --limit-key") return ;;
    "http delete --tag") return ;;
    "http delete --delay") return ;;
    "http delete --allow") return ;;
    "http delete --proxy") return ;;
    "http delete --ca-file") _files; return ;;
    "http delete --secrets") return ;;
    "http delete --signing-key") return ;;
    "http delete --blobs") return ;;
    "http delete --blob-mode") compadd -- 0600 0640; return ;;
    "http delete --payload-key") return ;;
    "http delete --blob-threshold") return ;;
    "http head --header") return ;;
    "http head --secret-header") return ;;
    "http head --param") return ;;
    "http head --timeout") return ;;
    "http head --host-patience") return ;;
    "http head --max-redirects") return ;;
    "http head --attempts") return ;;
    "http head --sign-with") return ;;
    "http head --callback") return ;;
    "http head --callback-queue") return ;;
    "http head --context") return ;;
    "http head --queue") return ;;
    "http head --priority") return ;;
    "http head --unique") return ;;
    "http head --limit-key") return ;;
    "http head --tag") return ;;
    "http head --delay") return ;;
    "http head --allow") return ;;
    "http head --proxy") return ;;
    "http head --ca-file") _files; return ;;
    "http head --secrets") return ;;
    "http head --signing-key") return ;;
    "http head --blobs") return ;;
    "http head --blob-mode") compadd -- 0600 0640; return ;;
    "http head --payload-key") return ;;
    "http head --blob-threshold") return ;;
    "http run --queue") return ;;
    "http run --capacity") return ;;
    "http run --per-host") return ;;
    "http run --timeout") return ;;
    "http run --connect-timeout") return ;;
    "http run --max-redirects") return ;;
    "http run --max-response") return ;;
    "http run --user-agent") return ;;
    "http run --idle-timeout") return ;;
    "http run --idle-connections") return ;;
    "http run --dns-cache") return ;;
    "http run --host-failures") return ;;
    "http run --host-pause") return ;;
    "http run --host-patience") return ;;
    "http run --allow") return ;;
    "http run --proxy") return ;;
    "http run --ca-file") _files; return ;;
    "http run --secrets") return ;;
    "http run --signing-key") return ;;
    "http run --blobs") return ;;
    "http run --blob-mode") compadd -- 0600 0640; return ;;
    "http run --payload-key") return ;;
    "http run --blob-threshold") return ;;
    "http run --callback-queue") return ;;
    "http run --heartbeat-interval") return ;;
    "http run --orphan-threshold") return ;;
    "http run --shutdown-timeout") return ;;
    "http run --retries") return ;;
    "http run --max-recoveries") return ;;
    "http run --otlp") return ;;
    "http run --log-format") compadd -- text json; return ;;
    "http list --limit") return ;;
    "http stats --newest") return ;;
    "tx start --id") return ;;
    "tx start --delay") return ;;
    "tx list --machine") return ;;
    "tx list --status") return ;;
    "tx list --limit") return ;;
    "tx retry --state") return ;;
    "tx signal --broker") return ;;
    "tx cleanup --broker") return ;;
    "tx cleanup --blobs") return ;;
    "tx cleanup --blob-mode") compadd -- 0600 0640; return ;;
    "tx cleanup --ledger") return ;;
    "results run --broker") return ;;
    "results run --blobs") return ;;
    "results run --blob-mode") compadd -- 0600 0640; return ;;
    "results run --ledger") return ;;
    "results run --request-queue") return ;;
    "results run --notify-queue") return ;;
    "results run --notify-prefix") return ;;
    "results run --intake-queue") return ;;
    "results run --failure-queue") return ;;
    "results run --abandon-after") return ;;
    "results run --queue-patience") return ;;
    "results run --timeout") return ;;
    "results run --capacity") return ;;
    "results run --threads") return ;;
    "results run --prefetch") return ;;
    "results run --metrics-file") _files; return ;;
    "results run --log-format") compadd -- text json; return ;;
    "results send --id") return ;;
    "results send --header") return ;;
    "results send --series") return ;;
    "results send --ordinal") return ;;
    "results send --queue") return ;;
    "results send --broker") return ;;
    "results receive --count") return ;;
    "results receive --wait") return ;;
    "results receive --broker") return ;;
    "results dead-letters list --broker") return ;;
    "results dead-letters list --limit") return ;;
    "results dead-letters show --broker") return ;;
    "results dead-letters replay --broker") return ;;
    "results dead-letters discard --broker") return ;;
    "batch submit --app") return ;;
    "batch submit --op") return ;;
    "batch submit --context") return ;;
    "batch submit --format") compadd -- jsonl csv; return ;;
    "batch submit --then") return ;;
    "batch append --format") compadd -- jsonl csv; return ;;
    "batch watch --app") return ;;
    "batch watch --op") return ;;
    "batch watch --context") return ;;
    "batch watch --format") compadd -- jsonl csv; return ;;
    "batch watch --then") return ;;
    "batch watch --age") return ;;
    "batch abort --liveness") return ;;
    "batch rows --status") compadd -- queued inprog success failed aborted; return ;;
    "batch rows --limit") return ;;
    "batch output --output") return ;;
    "batch run --exec") return ;;
    "batch run --app") return ;;
    "batch run --op") return ;;
    "batch run --output") return ;;
    "batch run --blob-mode") compadd -- 0600 0640; return ;;
    "batch run --attempts") return ;;
    "batch run --concurrency") return ;;
    "batch run --drain-timeout") return ;;
    "batch run --liveness") return ;;
    "batch run --queue-unclaimed-after") return ;;
    "batch run --pass-env") return ;;
    "batch run --log-format") compadd -- text json; return ;;
    "batch recover --liveness") return ;;
    "batch recover --queue-unclaimed-after") return ;;
    "batch list --app") return ;;
    "batch list --op") return ;;
    "batch list --status") compadd -- queued inprog success failed aborted wait; return ;;
    "batch list --limit") return ;;
    "serve --store") return ;;
    "serve --listen") return ;;
    "serve --users") _files; return ;;
    "serve --tokens") _files; return ;;
    "serve --cert") _files; return ;;
    "serve --key") _files; return ;;
    "serve --trusted-proxy") return ;;
    "serve --allow-host") return ;;
    "serve --max-connections") return ;;
    "serve --max-connections-per-address") return ;;
    "serve --state") return ;;
    "serve --output") return ;;
    "serve --broker") return ;;
    "serve --blobs") return ;;
    "serve --blob-mode") compadd -- 0600 0640; return ;;
    "serve --payload-key") return ;;
    "serve --require-sealed") return ;;
    "serve --otlp") return ;;
    "serve --log-format") compadd -- text json; return ;;
    "user add --users") _files; return ;;
    "user add --role") compadd -- viewer operator admin; return ;;
    "user list --users") _files; return ;;
    "user remove --users") _files; return ;;
    "token add --state") return ;;
    "token add --tokens") _files; return ;;
    "token add --scope") compadd -- metrics enqueue work viewer operator admin; return ;;
    "token add --queue") return ;;
    "token add --kind") return ;;
    "token add --quota-per-minute") return ;;
    "token add --quota-waiting") return ;;
    "token add --expires") return ;;
    "token list --state") return ;;
    "token list --tokens") _files; return ;;
    "token revoke --state") return ;;
    "token revoke --tokens") _files; return ;;
    "top --interval") return ;;
    "move --from") return ;;
    "move --to") return ;;
    "move --patience") return ;;
    "demo --seconds") return ;;
    "demo --workers") return ;;
    "demo --seed") return ;;
    "demo --keep") return ;;
  esac
  case "$path_" in
    "")
      commands=(
        'task:Enqueue tasks, look at them, act on them'
        'queue:Look at queues, pause them, recover their work'
        'schedule:Enqueue tasks again and again, as cron does'
        'limit:Limit what runs, in all workers together'
        'worker:Run a worker, list workers'
        'http:Make HTTP requests that survive kill -9'
        'tx:Transactions\: state machines that survive kill -9'
        'results:Collect large results that arrive in parts'
        'batch:Process many rows in many workers, with one result'
        'serve:Serve the HTTP API and the dashboard, and recover'
        'user:Who may log in to '\''holdfast serve'\'''
        'token:Credentials of programs for '\''holdfast serve'\'''
        'top:Watch queues, workers and recoveries live; q ends it'
        'config:Configuration files'
        'doctor:Say how the store is, what is wrong with it, and what to do'
        'migrate:Make the tables of a store on PostgreSQL, or bring them to this version'
        'move:Move everything in a store to another one, while it is used'
        'backup:Copy the store into a file while everybody works'
        'restore:Put a backup in the place of the store; unfinished tasks are held'
        'demo:Kill workers at random and see that nothing is lost'
        'version:Print the version'
        'help:Show how a command is used'
        'completion:Print the completion script of a shell')
      options=(
        '--help:Print this help message and exit'
        '--store:Address of the store; default\: the configuration'\''s, else sqlite\:holdfast.db'
        '--config:Configuration file (YAML)'
        '--version:Print the version'
        '--json:Print JSON\: one object a line'
        '--quiet:Print results only, no confirmations')
      ;;
    "task")
      commands=(
        'add:Enqueue tasks; prints one id a line'
        'list:List tasks, newest first'
        'show:Show everything about a task'
        'explain:Say why a task is not running'
        'logs:Print the log lines of a task'
        'retry:Run failed, held or cancelled tasks again, afresh'
        'cancel:Call tasks off; running ones are asked')
      options=(
        '--help:Print this help message and exit')
      ;;
    "task add")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--queue:Queue; default\: default'
        '--priority:1 (first) to 5 (last); default\: 3'
        '--unique:At most one unfinished task has this key; prints the id of that one'
        '--limit-key:Whose task it is, such as a tenant'\''s; see '\''holdfast limit'\'''
        '--tag:A tag to search by; repeatable'
        '--max-attempts:Failures after which it becomes a dead letter; default\: 3'
        '--delay:Run no sooner than this from now (10s, 5m)'
        '--at:Run no sooner than this (2026-03-01T12\:00\:00Z)'
        '--timeout:Longest an attempt may take; default\: 1h'
        '--after:Run after this task has completed; repeatable'
        '--traceparent:The trace that it belongs to, as W3C'\''s Trace Context writes it'
        '--count:Enqueue so many of them; default\: 1'
        '--file:One task for each line, a JSON payload; - is stdin')
      ;;
    "task list")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--status:Only tasks in this state; repeatable'
        '--state:Only tasks in this state; repeatable'
        '--queue:Only tasks of this queue'
        '--kind:Only tasks of this kind'
        '--tag:Only tasks with this tag'
        '--priority:Only tasks of this priority'
        '--since:Only tasks created since a time, or ago (2h)'
        '--limit:At most so many; default\: 50'
        '--offset:Skip so many; default\: 0'
        '--reverse:Oldest first')
      ;;
    "task show")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--blobs:Where large requests and answers are kept\: dir\:FOLDER, azure\://ACCOUNT/CONTAINER or s3\://BUCKET'
        '--blob-mode:Mode of the files of blobs in a folder\: 0600, or 0640 so that the group of the folder can read them; default\: the configuration'\''s, else 0600'
        '--payload-key:File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable')
      ;;
    "task explain")
      commands=()
      options=(
        '--help:Print this help message and exit')
      ;;
    "task logs")
      commands=()
      options=(
        '--help:Print this help message and exit')
      ;;
    "task retry")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--status:Only tasks in this state; repeatable'
        '--state:Only tasks in this state; repeatable'
        '--queue:Only tasks of this queue'
        '--kind:Only tasks of this kind'
        '--tag:Only tasks with this tag'
        '--priority:Only tasks of this priority'
        '--since:Only tasks created since a time, or ago (2h)'
        '--all:Every task that can be'
        '--yes:Do not ask')
      ;;
    "task cancel")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--status:Only tasks in this state; repeatable'
        '--state:Only tasks in this state; repeatable'
        '--queue:Only tasks of this queue'
        '--kind:Only tasks of this kind'
        '--tag:Only tasks with this tag'
        '--priority:Only tasks of this priority'
        '--since:Only tasks created since a time, or ago (2h)'
        '--all:Every task that can be'
        '--yes:Do not ask'
        '--force:Take running tasks from their workers now; whatever those write is refused')
      ;;
    "queue")
      commands=(
        'status:Count the tasks of each queue by state'
        'pause:Start no more tasks of a queue'
        'resume:Let a paused queue go on'
        'recover:Take back now what dead workers held, and report'
        'recovery-status:Say whether work of dead workers waits to be taken back'
        'recovery-report:Print the last report of a recovery'
        'metrics:Print the numbers of the store for Prometheus')
      options=(
        '--help:Print this help message and exit')
      ;;
    "queue status")
      commands=()
      options=(
        '--help:Print this help message and exit')
      ;;
    "queue pause")
      commands=()
      options=(
        '--help:Print this help message and exit')
      ;;
    "queue resume")
      commands=()
      options=(
        '--help:Print this help message and exit')
      ;;
    "queue recover")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--action:What to do with their tasks; default\: the configuration'\''s'
        '--dry-run:Only say what would be done')
      ;;
    "queue recovery-status")
      commands=()
      options=(
        '--help:Print this help message and exit')
      ;;
    "queue recovery-report")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--last:So many, newest first; default\: 1')
      ;;
    "queue metrics")
      commands=()
      options=(
        '--help:Print this help message and exit')
      ;;
    "schedule")
      commands=(
        'add:Add a schedule, or change the one of that name'
        'list:Schedules, their next times and their last'
        'pause:Enqueue nothing until it is resumed'
        'resume:Go on with the next time'
        'remove:Remove a schedule; its tasks stay')
      options=(
        '--help:Print this help message and exit')
      ;;
    "schedule add")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--zone:Time zone of CRON, such as Europe/Berlin; default\: UTC'
        '--missed:What to do about times that no worker was there for; default\: once'
        '--queue:Queue; default\: default'
        '--priority:1 (first) to 5 (last); default\: 3'
        '--unique:At most one unfinished task has this key; prints the id of that one'
        '--limit-key:Whose task it is, such as a tenant'\''s; see '\''holdfast limit'\'''
        '--tag:A tag to search by; repeatable'
        '--max-attempts:Failures after which it becomes a dead letter; default\: 3'
        '--delay:Run no sooner than this after each time'
        '--timeout:Longest an attempt may take; default\: 1h')
      ;;
    "schedule list")
      commands=()
      options=(
        '--help:Print this help message and exit')
      ;;
    "schedule pause")
      commands=()
      options=(
        '--help:Print this help message and exit')
      ;;
    "schedule resume")
      commands=()
      options=(
        '--help:Print this help message and exit')
      ;;
    "schedule remove")
      commands=()
      options=(
        '--help:Print this help message and exit')
      ;;
    "limit")
      commands=(
        'set:Set a limit, in place of the one before'
        'list:Limits, and how much of each is in use'
        'remove:Remove a limit')
      options=(
        '--help:Print this help message and exit')
      ;;
    "limit set")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--max-running:So many may run at once; 0\: none'
        '--rate:So many may start in a time (100/1m)'
        '--burst:So many may start at once after a pause; default\: as many as --rate says')
      choices=(queue kind key)
      ;;
    "limit list")
      commands=()
      options=(
        '--help:Print this help message and exit')
      ;;
    "limit remove")
      commands=()
      options=(
        '--help:Print this help message and exit')
      choices=(queue kind key)
      ;;
    "worker")
      commands=(
        'run:Run tasks with a program as their handler'
        'list:List workers, running ones first')
      options=(
        '--help:Print this help message and exit')
      ;;
    "worker run")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--exec:Shell command that gets the payload on its standard input; exit 0 done, 75 retry, 65 fail for good, else a failure. Or write the program and its arguments after --'
        '--kind:Kind of tasks it is for; repeatable'
        '--queue:Take from this queue only; repeatable'
        '--concurrency:So many at once; default\: the configuration'\''s, else one for each core'
        '--metrics-file:Keep this file up to date with what this worker counts, for Prometheus'
        '--until-empty:End when nothing is left to run'
        '--pass-env:Pass this environment variable to the program although Holdfast withholds it, such as HOLDFAST_STORE or PGPASSWORD; repeatable'
        '--blobs:Where large requests and answers are kept\: dir\:FOLDER, azure\://ACCOUNT/CONTAINER or s3\://BUCKET'
        '--blob-mode:Mode of the files of blobs in a folder\: 0600, or 0640 so that the group of the folder can read them; default\: the configuration'\''s, else 0600'
        '--payload-key:File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable'
        '--accept-plain:Accept requests and answers that are neither encrypted nor signed although there is a key; for those from before it was set'
        '--refuse-unbound:Refuse what earlier versions encrypted, which is not bound to its task'
        '--require-sealed:Hold tasks of this kind whose payload is neither encrypted nor signed; KIND* for all that begin so; repeatable'
        '--otlp:Send spans of attempts to this collector for OpenTelemetry, such as http\://127.0.0.1\:4318; default\: OTEL_EXPORTER_OTLP_ENDPOINT, else the configuration'\''s, else none'
        '--log-format:How the log on standard error is written; default\: the configuration'\''s, else text')
      ;;
    "worker list")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--show-heartbeat:Also when each was last heard of, what it holds, and how we know'
        '--state:Only workers in this state')
      ;;
    "http")
      commands=(
        'get:Enqueue a GET request'
        'post:Enqueue a POST request'
        'put:Enqueue a PUT request'
        'patch:Enqueue a PATCH request'
        'delete:Enqueue a DELETE request'
        'head:Enqueue a HEAD request'
        'run:Perform requests, thousands at once'
        'list:List requests in flight'
        'stats:Count requests, statuses, errors and how long they took')
      options=(
        '--help:Print this help message and exit')
      ;;
    "http get")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--header:Header '\''Name\: value'\''; repeatable'
        '--secret-header:Header '\''Name\: secret'\'', whose value is looked up by whoever sends; repeatable'
        '--param:Parameter name=value for the URL; repeatable'
        '--timeout:For each hop, such as 5s; default\: 30s'
        '--host-patience:How long to wait for a host whose circuit breaker is open, from when it opened; default\: the processor'\''s setting'
        '--max-redirects:Follow so many; default\: what whoever sends it says; 0 follows none'
        '--attempts:Give up after so many; default\: 4'
        '--sign-with:Name of a key of whoever sends'
        '--raise:Take answers of 400 and more for errors'
        '--callback:Kind of the task that gets the answer'
        '--callback-queue:Queue of that task; default\: default'
        '--context:JSON that the callback gets, too'
        '--queue:Queue; default\: default'
        '--priority:1 (first) to 5 (last); default\: 3'
        '--unique:At most one unfinished task has this key; prints the id of that one'
        '--limit-key:Whose task it is, such as a tenant'\''s; see '\''holdfast limit'\'''
        '--tag:A tag to search by; repeatable'
        '--delay:Send it no sooner than this from now (10s, 5m)'
        '--print:Perform it now and print the answer'
        '--allow-private:Connect to private addresses and this host, too; for tests and intranets'
        '--allow:Connect to this network (10.1.0.0/16) or host, too; repeatable'
        '--proxy:Connect through this proxy (http\:// or https\://)'
        '--ca-file:Certificates to trust; default\: the system'\''s'
        '--secrets:Folder with a file for each secret that headers may name, and a file NAME.bind with the hosts that it may be sent to'
        '--signing-key:File with a key that requests are signed with by name, beside FILE.bind with the hosts that may get them; repeatable'
        '--blobs:Where large requests and answers are kept\: dir\:FOLDER, azure\://ACCOUNT/CONTAINER or s3\://BUCKET'
        '--blob-mode:Mode of the files of blobs in a folder\: 0600, or 0640 so that the group of the folder can read them; default\: the configuration'\''s, else 0600'
        '--payload-key:File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable'
        '--sign-payloads:Sign requests and answers with the key instead of encrypting them\: they can be read in the store, but not forged'
        '--blob-threshold:Keep in blobs what is larger; default\: 65536')
      ;;
    "http post")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--header:Header '\''Name\: value'\''; repeatable'
        '--secret-header:Header '\''Name\: secret'\'', whose value is looked up by whoever sends; repeatable'
        '--param:Parameter name=value for the URL; repeatable'
        '--data:The body'
        '--data-file:File with the body; - is stdin'
        '--hold:Do not send it again by itself once it may have been sent'
        '--timeout:For each hop, such as 5s; default\: 30s'
        '--host-patience:How long to wait for a host whose circuit breaker is open, from when it opened; default\: the processor'\''s setting'
        '--max-redirects:Follow so many; default\: what whoever sends it says; 0 follows none'
        '--attempts:Give up after so many; default\: 4'
        '--sign-with:Name of a key of whoever sends'
        '--raise:Take answers of 400 and more for errors'
        '--callback:Kind of the task that gets the answer'
        '--callback-queue:Queue of that task; default\: default'
        '--context:JSON that the callback gets, too'
        '--queue:Queue; default\: default'
        '--priority:1 (first) to 5 (last); default\: 3'
        '--unique:At most one unfinished task has this key; prints the id of that one'
        '--limit-key:Whose task it is, such as a tenant'\''s; see '\''holdfast limit'\'''
        '--tag:A tag to search by; repeatable'
        '--delay:Send it no sooner than this from now (10s, 5m)'
        '--print:Perform it now and print the answer'
        '--allow-private:Connect to private addresses and this host, too; for tests and intranets'
        '--allow:Connect to this network (10.1.0.0/16) or host, too; repeatable'
        '--proxy:Connect through this proxy (http\:// or https\://)'
        '--ca-file:Certificates to trust; default\: the system'\''s'
        '--secrets:Folder with a file for each secret that headers may name, and a file NAME.bind with the hosts that it may be sent to'
        '--signing-key:File with a key that requests are signed with by name, beside FILE.bind with the hosts that may get them; repeatable'
        '--blobs:Where large requests and answers are kept\: dir\:FOLDER, azure\://ACCOUNT/CONTAINER or s3\://BUCKET'
        '--blob-mode:Mode of the files of blobs in a folder\: 0600, or 0640 so that the group of the folder can read them; default\: the configuration'\''s, else 0600'
        '--payload-key:File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable'
        '--sign-payloads:Sign requests and answers with the key instead of encrypting them\: they can be read in the store, but not forged'
        '--blob-threshold:Keep in blobs what is larger; default\: 65536')
      ;;
    "http put")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--header:Header '\''Name\: value'\''; repeatable'
        '--secret-header:Header '\''Name\: secret'\'', whose value is looked up by whoever sends; repeatable'
        '--param:Parameter name=value for the URL; repeatable'
        '--data:The body'
        '--data-file:File with the body; - is stdin'
        '--timeout:For each hop, such as 5s; default\: 30s'
        '--host-patience:How long to wait for a host whose circuit breaker is open, from when it opened; default\: the processor'\''s setting'
        '--max-redirects:Follow so many; default\: what whoever sends it says; 0 follows none'
        '--attempts:Give up after so many; default\: 4'
        '--sign-with:Name of a key of whoever sends'
        '--raise:Take answers of 400 and more for errors'
        '--callback:Kind of the task that gets the answer'
        '--callback-queue:Queue of that task; default\: default'
        '--context:JSON that the callback gets, too'
        '--queue:Queue; default\: default'
        '--priority:1 (first) to 5 (last); default\: 3'
        '--unique:At most one unfinished task has this key; prints the id of that one'
        '--limit-key:Whose task it is, such as a tenant'\''s; see '\''holdfast limit'\'''
        '--tag:A tag to search by; repeatable'
        '--delay:Send it no sooner than this from now (10s, 5m)'
        '--print:Perform it now and print the answer'
        '--allow-private:Connect to private addresses and this host, too; for tests and intranets'
        '--allow:Connect to this network (10.1.0.0/16) or host, too; repeatable'
        '--proxy:Connect through this proxy (http\:// or https\://)'
        '--ca-file:Certificates to trust; default\: the system'\''s'
        '--secrets:Folder with a file for each secret that headers may name, and a file NAME.bind with the hosts that it may be sent to'
        '--signing-key:File with a key that requests are signed with by name, beside FILE.bind with the hosts that may get them; repeatable'
        '--blobs:Where large requests and answers are kept\: dir\:FOLDER, azure\://ACCOUNT/CONTAINER or s3\://BUCKET'
        '--blob-mode:Mode of the files of blobs in a folder\: 0600, or 0640 so that the group of the folder can read them; default\: the configuration'\''s, else 0600'
        '--payload-key:File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable'
        '--sign-payloads:Sign requests and answers with the key instead of encrypting them\: they can be read in the store, but not forged'
        '--blob-threshold:Keep in blobs what is larger; default\: 65536')
      ;;
    "http patch")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--header:Header '\''Name\: value'\''; repeatable'
        '--secret-header:Header '\''Name\: secret'\'', whose value is looked up by whoever sends; repeatable'
        '--param:Parameter name=value for the URL; repeatable'
        '--data:The body'
        '--data-file:File with the body; - is stdin'
        '--hold:Do not send it again by itself once it may have been sent'
        '--timeout:For each hop, such as 5s; default\: 30s'
        '--host-patience:How long to wait for a host whose circuit breaker is open, from when it opened; default\: the processor'\''s setting'
        '--max-redirects:Follow so many; default\: what whoever sends it says; 0 follows none'
        '--attempts:Give up after so many; default\: 4'
        '--sign-with:Name of a key of whoever sends'
        '--raise:Take answers of 400 and more for errors'
        '--callback:Kind of the task that gets the answer'
        '--callback-queue:Queue of that task; default\: default'
        '--context:JSON that the callback gets, too'
        '--queue:Queue; default\: default'
        '--priority:1 (first) to 5 (last); default\: 3'
        '--unique:At most one unfinished task has this key; prints the id of that one'
        '--limit-key:Whose task it is, such as a tenant'\''s; see '\''holdfast limit'\'''
        '--tag:A tag to search by; repeatable'
        '--delay:Send it no sooner than this from now (10s, 5m)'
        '--print:Perform it now and print the answer'
        '--allow-private:Connect to private addresses and this host, too; for tests and intranets'
        '--allow:Connect to this network (10.1.0.0/16) or host, too; repeatable'
        '--proxy:Connect through this proxy (http\:// or https\://)'
        '--ca-file:Certificates to trust; default\: the system'\''s'
        '--secrets:Folder with a file for each secret that headers may name, and a file NAME.bind with the hosts that it may be sent to'
        '--signing-key:File with a key that requests are signed with by name, beside FILE.bind with the hosts that may get them; repeatable'
        '--blobs:Where large requests and answers are kept\: dir\:FOLDER, azure\://ACCOUNT/CONTAINER or s3\://BUCKET'
        '--blob-mode:Mode of the files of blobs in a folder\: 0600, or 0640 so that the group of the folder can read them; default\: the configuration'\''s, else 0600'
        '--payload-key:File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable'
        '--sign-payloads:Sign requests and answers with the key instead of encrypting them\: they can be read in the store, but not forged'
        '--blob-threshold:Keep in blobs what is larger; default\: 65536')
      ;;
    "http delete")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--header:Header '\''Name\: value'\''; repeatable'
        '--secret-header:Header '\''Name\: secret'\'', whose value is looked up by whoever sends; repeatable'
        '--param:Parameter name=value for the URL; repeatable'
        '--timeout:For each hop, such as 5s; default\: 30s'
        '--host-patience:How long to wait for a host whose circuit breaker is open, from when it opened; default\: the processor'\''s setting'
        '--max-redirects:Follow so many; default\: what whoever sends it says; 0 follows none'
        '--attempts:Give up after so many; default\: 4'
        '--sign-with:Name of a key of whoever sends'
        '--raise:Take answers of 400 and more for errors'
        '--callback:Kind of the task that gets the answer'
        '--callback-queue:Queue of that task; default\: default'
        '--context:JSON that the callback gets, too'
        '--queue:Queue; default\: default'
        '--priority:1 (first) to 5 (last); default\: 3'
        '--unique:At most one unfinished task has this key; prints the id of that one'
        '--limit-key:Whose task it is, such as a tenant'\''s; see '\''holdfast limit'\'''
        '--tag:A tag to search by; repeatable'
        '--delay:Send it no sooner than this from now (10s, 5m)'
        '--print:Perform it now and print the answer'
        '--allow-private:Connect to private addresses and this host, too; for tests and intranets'
        '--allow:Connect to this network (10.1.0.0/16) or host, too; repeatable'
        '--proxy:Connect through this proxy (http\:// or https\://)'
        '--ca-file:Certificates to trust; default\: the system'\''s'
        '--secrets:Folder with a file for each secret that headers may name, and a file NAME.bind with the hosts that it may be sent to'
        '--signing-key:File with a key that requests are signed with by name, beside FILE.bind with the hosts that may get them; repeatable'
        '--blobs:Where large requests and answers are kept\: dir\:FOLDER, azure\://ACCOUNT/CONTAINER or s3\://BUCKET'
        '--blob-mode:Mode of the files of blobs in a folder\: 0600, or 0640 so that the group of the folder can read them; default\: the configuration'\''s, else 0600'
        '--payload-key:File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable'
        '--sign-payloads:Sign requests and answers with the key instead of encrypting them\: they can be read in the store, but not forged'
        '--blob-threshold:Keep in blobs what is larger; default\: 65536')
      ;;
    "http head")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--header:Header '\''Name\: value'\''; repeatable'
        '--secret-header:Header '\''Name\: secret'\'', whose value is looked up by whoever sends; repeatable'
        '--param:Parameter name=value for the URL; repeatable'
        '--timeout:For each hop, such as 5s; default\: 30s'
        '--host-patience:How long to wait for a host whose circuit breaker is open, from when it opened; default\: the processor'\''s setting'
        '--max-redirects:Follow so many; default\: what whoever sends it says; 0 follows none'
        '--attempts:Give up after so many; default\: 4'
        '--sign-with:Name of a key of whoever sends'
        '--raise:Take answers of 400 and more for errors'
        '--callback:Kind of the task that gets the answer'
        '--callback-queue:Queue of that task; default\: default'
        '--context:JSON that the callback gets, too'
        '--queue:Queue; default\: default'
        '--priority:1 (first) to 5 (last); default\: 3'
        '--unique:At most one unfinished task has this key; prints the id of that one'
        '--limit-key:Whose task it is, such as a tenant'\''s; see '\''holdfast limit'\'''
        '--tag:A tag to search by; repeatable'
        '--delay:Send it no sooner than this from now (10s, 5m)'
        '--print:Perform it now and print the answer'
        '--allow-private:Connect to private addresses and this host, too; for tests and intranets'
        '--allow:Connect to this network (10.1.0.0/16) or host, too; repeatable'
        '--proxy:Connect through this proxy (http\:// or https\://)'
        '--ca-file:Certificates to trust; default\: the system'\''s'
        '--secrets:Folder with a file for each secret that headers may name, and a file NAME.bind with the hosts that it may be sent to'
        '--signing-key:File with a key that requests are signed with by name, beside FILE.bind with the hosts that may get them; repeatable'
        '--blobs:Where large requests and answers are kept\: dir\:FOLDER, azure\://ACCOUNT/CONTAINER or s3\://BUCKET'
        '--blob-mode:Mode of the files of blobs in a folder\: 0600, or 0640 so that the group of the folder can read them; default\: the configuration'\''s, else 0600'
        '--payload-key:File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable'
        '--sign-payloads:Sign requests and answers with the key instead of encrypting them\: they can be read in the store, but not forged'
        '--blob-threshold:Keep in blobs what is larger; default\: 65536')
      ;;
    "http run")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--queue:Take from this queue only; repeatable'
        '--capacity:Requests in flight; default\: 256'
        '--per-host:Of them to one host; default\: 0, no limit'
        '--timeout:For each hop of a request that does not say, as those of '\''http get'\'' and clients do; default\: 60s'
        '--connect-timeout:Default\: 10s'
        '--max-redirects:Follow so many; default\: 5, 0 follows none'
        '--max-response:Largest answer in bytes, decoded; default\: 1048576'
        '--raise:Take answers of 400 and more for errors where the request does not say'
        '--user-agent:Who we say that we are; default\: holdfast'
        '--http1:Speak HTTP/1.1 only, for proxies that cannot bear HTTP/2'
        '--idle-timeout:Use a connection again that was idle for so long; default\: 60s'
        '--idle-connections:Keep so many open, or as many as the capacity if that is more; default\: 100'
        '--dns-cache:Know the address of a host for so long; default\: 60s'
        '--host-failures:Failures in a row after which the circuit breaker of a host opens, so that nothing is sent to it; default\: 10, 0\: never'
        '--host-pause:How long until one request tries again whether the host is back; default\: 15s'
        '--host-patience:How long requests wait for such a host before they fail, where they do not say; default\: 1m, and 0s for Sidekiq'
        '--allow-private:Connect to private addresses and this host, too; for tests and intranets'
        '--allow:Connect to this network (10.1.0.0/16) or host, too; repeatable'
        '--proxy:Connect through this proxy (http\:// or https\://)'
        '--ca-file:Certificates to trust; default\: the system'\''s'
        '--secrets:Folder with a file for each secret that headers may name, and a file NAME.bind with the hosts that it may be sent to'
        '--signing-key:File with a key that requests are signed with by name, beside FILE.bind with the hosts that may get them; repeatable'
        '--blobs:Where large requests and answers are kept\: dir\:FOLDER, azure\://ACCOUNT/CONTAINER or s3\://BUCKET'
        '--blob-mode:Mode of the files of blobs in a folder\: 0600, or 0640 so that the group of the folder can read them; default\: the configuration'\''s, else 0600'
        '--payload-key:File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable'
        '--sign-payloads:Sign requests and answers with the key instead of encrypting them\: they can be read in the store, but not forged'
        '--blob-threshold:Keep in blobs what is larger; default\: 65536'
        '--accept-plain:Accept requests and answers that are neither encrypted nor signed although there is a key; for those from before it was set'
        '--refuse-unbound:Refuse what earlier versions encrypted, which is not bound to its task'
        '--callback-queue:Sidekiq\: where callbacks go; default\: the queue of the request'
        '--heartbeat-interval:Sidekiq\: how often requests in flight are vouched for; default\: 60s'
        '--orphan-threshold:Sidekiq\: after so long a silence requests are taken over; default\: 300s'
        '--shutdown-timeout:Sidekiq\: so long may requests in flight take at the end; default\: 23s'
        '--retries:Sidekiq\: try connections that fail again; default\: 3 times'
        '--max-recoveries:Sidekiq\: a request that died with its process more often becomes a dead job; default\: 3 times'
        '--require-bound-secrets:Sidekiq\: refuse secrets that have no file NAME.bind'
        '--hold-ambiguous:Sidekiq\: do not send a POST or PATCH again whose process died meanwhile'
        '--until-empty:End when no request is left; Sidekiq\: on its queues'
        '--otlp:Send spans of attempts to this collector for OpenTelemetry, such as http\://127.0.0.1\:4318; default\: OTEL_EXPORTER_OTLP_ENDPOINT, else the configuration'\''s, else none'
        '--log-format:How the log on standard error is written; default\: the configuration'\''s, else text')
      ;;
    "http list")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--limit:At most so many; default\: 50')
      ;;
    "http stats")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--newest:Look into the results of so many; default\: 10000')
      ;;
    "tx")
      commands=(
        'start:Start a transaction, and print its id'
        'list:List transactions, newest first'
        'show:Show everything about a transaction, and what is missing of a result'
        'cancel:Call transactions off; running ones are asked'
        'retry:Run failed, held or cancelled transactions again'
        'signal:Send a signal to a transaction, such as an approval that it waits for'
        'cleanup:Remove queues and blobs of results that failed or were cancelled')
      options=(
        '--help:Print this help message and exit')
      ;;
    "tx start")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--id:Its id, so that it can be started again safely; default\: a new one'
        '--delay:Not before this time has passed, such as 10m')
      ;;
    "tx list")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--machine:Only those of this machine'
        '--status:Only in this state of their task; repeatable'
        '--limit:At most so many; default\: 50'
        '--watch:Print again every second, until interrupted')
      ;;
    "tx show")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--ledger:The lines of its ledger, too'
        '--watch:Print again every second, until interrupted')
      ;;
    "tx cancel")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--force:Take running ones from their workers now; whatever those write is refused')
      ;;
    "tx retry")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--state:Begin in this state; default\: where it was, or its first one if it had failed')
      ;;
    "tx signal")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--broker:Where messages are\: sqlite\:FILE or amqp\://USER@HOST/VHOST; default\: in the store'\''s file')
      ;;
    "tx cleanup")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--broker:Where messages are\: sqlite\:FILE or amqp\://USER@HOST/VHOST; default\: in the store'\''s file'
        '--blobs:Where parts are kept\: dir\:FOLDER, azure\://ACCOUNT/CONTAINER or s3\://BUCKET'
        '--blob-mode:Mode of the files of blobs in a folder\: 0600, or 0640 so that the group of the folder can read them; default\: the configuration'\''s, else 0600'
        '--ledger:Where ledgers are kept\: redis\://HOST\:PORT; default\: in the store')
      ;;
    "results")
      commands=(
        'run:Collect results that arrive in parts'
        'send:Send a header, a part or any other message to a queue'
        'receive:Take messages from a queue and print their bodies'
        'dead-letters:Look at messages that were rejected')
      options=(
        '--help:Print this help message and exit')
      ;;
    "results run")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--broker:Where messages are\: sqlite\:FILE or amqp\://USER@HOST/VHOST; default\: in the store'\''s file'
        '--blobs:Where parts are kept\: dir\:FOLDER, azure\://ACCOUNT/CONTAINER or s3\://BUCKET'
        '--blob-mode:Mode of the files of blobs in a folder\: 0600, or 0640 so that the group of the folder can read them; default\: the configuration'\''s, else 0600'
        '--ledger:Where ledgers are kept\: redis\://HOST\:PORT; default\: in the store'
        '--request-queue:The producer'\''s queue'
        '--notify-queue:Queue that is told that a result is complete; repeatable\: requests may name one of the others instead'
        '--notify-prefix:Requests may also name queues that begin with this; repeatable'
        '--intake-queue:Start a result for each message here, too'
        '--failure-queue:Queue that is told that a result failed; default\: the queue for its notice'
        '--abandon-after:Fail a result that has listened for this time without a new part; default\: 30m'
        '--queue-patience:Replace a queue that cannot be read for this time; 0\: never; default\: 2m'
        '--timeout:For a whole result; default\: none'
        '--capacity:Results in progress; default\: 1000'
        '--threads:Handlers at once, which mostly wait; default\: 16'
        '--prefetch:Megabytes of messages taken ahead; a larger one comes alone; default\: 64'
        '--metrics-file:Keep this file up to date with what this instance counts, for Prometheus'
        '--until-empty:End when no result is left'
        '--log-format:How the log on standard error is written; default\: the configuration'\''s, else text')
      ;;
    "results send")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--id:The transaction that it is for; with --queue the id of the message'
        '--header:Send the header of a result with SERIES=COUNT, such as Files=3; repeatable'
        '--series:Send a part of this series'
        '--ordinal:Which part it is; parts begin with 1'
        '--queue:Send the bytes as they are to this queue'
        '--broker:Where messages are\: sqlite\:FILE or amqp\://USER@HOST/VHOST; default\: in the store'\''s file')
      ;;
    "results receive")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--count:At most this many; default\: 1'
        '--wait:How long to wait for them; default\: 10s'
        '--declare:Create the queue if it does not exist'
        '--broker:Where messages are\: sqlite\:FILE or amqp\://USER@HOST/VHOST; default\: in the store'\''s file')
      ;;
    "results dead-letters")
      commands=(
        'list:List dead letters with their reasons'
        'show:Print the body of a dead letter'
        'replay:Send dead letters to their queues again'
        'discard:Remove dead letters')
      options=(
        '--help:Print this help message and exit')
      ;;
    "results dead-letters list")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--broker:Where messages are\: sqlite\:FILE or amqp\://USER@HOST/VHOST; default\: in the store'\''s file'
        '--limit:At most so many; default\: 50')
      ;;
    "results dead-letters show")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--broker:Where messages are\: sqlite\:FILE or amqp\://USER@HOST/VHOST; default\: in the store'\''s file')
      ;;
    "results dead-letters replay")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--broker:Where messages are\: sqlite\:FILE or amqp\://USER@HOST/VHOST; default\: in the store'\''s file'
        '--all:All of them')
      ;;
    "results dead-letters discard")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--broker:Where messages are\: sqlite\:FILE or amqp\://USER@HOST/VHOST; default\: in the store'\''s file'
        '--all:All of them')
      ;;
    "batch")
      commands=(
        'submit:Submit the rows of a file as a batch; prints its id'
        'append:Add rows to a batch that waits'
        'watch:Submit every file that comes into a folder as a batch'
        'release:Let a batch run that waits'
        'abort:Call a batch off\: what is not done is aborted'
        'status:Show how far a batch is'
        'rows:Show the rows of a batch with their results'
        'output:List the output files of a batch, or write one to stdout'
        'run:Process rows with a program'
        'recover:Take back now the rows that dead workers held, and report'
        'list:List batches, the newest first')
      options=(
        '--help:Print this help message and exit')
      ;;
    "batch submit")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--app:Application'
        '--op:Operation'
        '--context:For every row; default\: {}'
        '--format:Default\: by the name of the file'
        '--then:Enqueue a task of this kind when it ends'
        '--wait:Hold it until it is released')
      ;;
    "batch append")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--format:Default\: by the name of the file'
        '--release:And let it run')
      ;;
    "batch watch")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--app:Application'
        '--op:Operation'
        '--context:For every row; default\: {}'
        '--format:Default\: by the name of the file'
        '--then:Enqueue a task of this kind when it ends'
        '--age:Take files that nobody has written to for so long; default\: 5s'
        '--once:Look once and end')
      ;;
    "batch release")
      commands=()
      options=(
        '--help:Print this help message and exit')
      ;;
    "batch abort")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--liveness:The Redis of the services that share the tables of batches, such as redis\://HOST\:PORT')
      ;;
    "batch status")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--watch:Until it has ended, with its progress')
      ;;
    "batch rows")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--status:With this status; repeatable'
        '--limit:At most so many; default\: 50')
      ;;
    "batch output")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--output:Where output files are, such as dir\:FOLDER')
      ;;
    "batch run")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--exec:Shell command that gets rows as lines of JSON and answers each with a line'
        '--app:Application'
        '--op:Operation; repeatable'
        '--output:Where output files go, such as dir\:FOLDER'
        '--blob-mode:Mode of the files of blobs in a folder\: 0600, or 0640 so that the group of the folder can read them; default\: the configuration'\''s, else 0600'
        '--attempts:So often a row is begun before it fails; default\: 3'
        '--concurrency:So many programs at once; default\: the configuration'\''s, else one for each core'
        '--drain-timeout:How long begun rows may take to finish after SIGTERM (default\: no limit)'
        '--liveness:The Redis of the services that share the tables of batches, such as redis\://HOST\:PORT'
        '--queue-unclaimed-after:Queue rows again that workers of another make left in progress, when they have been known for so long; default\: 3m with --liveness, else never'
        '--pass-env:Pass this environment variable to the program although Holdfast withholds it, such as HOLDFAST_STORE or PGPASSWORD; repeatable'
        '--until-empty:End when nothing is left that this worker could process'
        '--log-format:How the log on standard error is written; default\: the configuration'\''s, else text')
      ;;
    "batch recover")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--liveness:The Redis of the services that share the tables of batches, such as redis\://HOST\:PORT'
        '--queue-unclaimed-after:Queue rows again that workers of another make left in progress, when they have been known for so long; default\: 3m with --liveness, else never')
      ;;
    "batch list")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--app:Of this application'
        '--op:Of this operation'
        '--status:With this status; repeatable'
        '--limit:At most so many; default\: 50')
      ;;
    "serve")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--store:A store to serve; repeatable'
        '--listen:Where; default\: localhost\:8420'
        '--no-auth:Disable authentication (loopback only)'
        '--read-only:Read-only mode\: all callers have the rights of a viewer'
        '--users:Who may log in; see '\''holdfast user add'\'''
        '--tokens:Tokens of programs; default\: '\''tokens'\'' in the folder of --state'
        '--cert:Certificate for TLS (PEM)'
        '--key:Its key (PEM)'
        '--behind-proxy:A proxy does TLS and says who calls'
        '--trusted-proxy:Address or network of that proxy; repeatable; default on loopback\: this machine'
        '--allow-host:A name by which the server may be called; repeatable'
        '--max-connections:Maximum connections (default\: 4096, or what the limit of open files allows)'
        '--max-connections-per-address:Maximum unauthenticated connections of one address (default\: 64)'
        '--state:Folder for tokens and audit log; default\: beside the store'
        '--output:Where output files of batches are, such as dir\:FOLDER; default\: beside the store'
        '--broker:Where messages of transactions and results are\: sqlite\:FILE or amqp\://USER@HOST/VHOST; default\: in the store'\''s file'
        '--blobs:Where large requests and answers are kept\: dir\:FOLDER, azure\://ACCOUNT/CONTAINER or s3\://BUCKET'
        '--blob-mode:Mode of the files of blobs in a folder\: 0600, or 0640 so that the group of the folder can read them; default\: the configuration'\''s, else 0600'
        '--payload-key:File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable'
        '--sign-payloads:Sign requests and answers with the key instead of encrypting them\: they can be read in the store, but not forged'
        '--accept-plain:Accept requests and answers that are neither encrypted nor signed although there is a key; for those from before it was set'
        '--refuse-unbound:Refuse what earlier versions encrypted, which is not bound to its task'
        '--require-sealed:Hold tasks of this kind whose payload is neither encrypted nor signed; KIND* for all that begin so; repeatable'
        '--otlp:Send spans of attempts to this collector for OpenTelemetry, such as http\://127.0.0.1\:4318; default\: OTEL_EXPORTER_OTLP_ENDPOINT, else the configuration'\''s, else none'
        '--log-format:How the log on standard error is written; default\: the configuration'\''s, else text')
      ;;
    "user")
      commands=(
        'add:Add a user or set a new password, which is read from standard input'
        'list:List who may log in'
        'remove:Remove a user')
      options=(
        '--help:Print this help message and exit')
      ;;
    "user add")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--users:The file that '\''holdfast serve --users'\'' reads'
        '--role:What they may do; default\: viewer')
      ;;
    "user list")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--users:The file that '\''holdfast serve --users'\'' reads')
      ;;
    "user remove")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--users:The file that '\''holdfast serve --users'\'' reads')
      ;;
    "token")
      commands=(
        'add:Make a token and print its secret, once'
        'list:List tokens, without their secrets'
        'revoke:Make a token invalid, at once')
      options=(
        '--help:Print this help message and exit')
      ;;
    "token add")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--state:The folder that '\''holdfast serve'\'' uses; default\: beside the store'
        '--tokens:The file that '\''holdfast serve --tokens'\'' reads'
        '--scope:What it may be used for; repeatable'
        '--queue:A queue for enqueue and work, or PREFIX*; repeatable; default\: all'
        '--kind:A kind for enqueue and work, or PREFIX*; repeatable; default\: all'
        '--quota-per-minute:Maximum tasks that it may enqueue in a minute; default\: no quota'
        '--quota-waiting:Maximum tasks that may wait in its queues; default\: no quota'
        '--expires:How long it is valid, such as 90d; default\: until it is revoked')
      ;;
    "token list")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--state:The folder that '\''holdfast serve'\'' uses; default\: beside the store'
        '--tokens:The file that '\''holdfast serve --tokens'\'' reads')
      ;;
    "token revoke")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--state:The folder that '\''holdfast serve'\'' uses; default\: beside the store'
        '--tokens:The file that '\''holdfast serve --tokens'\'' reads')
      ;;
    "top")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--interval:How often it looks, such as 5s; default\: 1s'
        '--once:Look once, print it and end')
      ;;
    "config")
      commands=(
        'check:Check a configuration file and print what is in force')
      options=(
        '--help:Print this help message and exit')
      ;;
    "config check")
      commands=()
      options=(
        '--help:Print this help message and exit')
      ;;
    "doctor")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--full:Check every page and index, however long it takes'
        '--accept-loss:Go on without the commits that cannot be read any more')
      ;;
    "migrate")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--print:Print the statements for an empty database instead of running them')
      ;;
    "move")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--from:The store as it is'
        '--to:Where it is to be'
        '--finished:Completed and cancelled tasks, too'
        '--patience:How long to wait for running tasks to end (default 60s)')
      ;;
    "backup")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--force:Overwrite the file if it is there')
      ;;
    "restore")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--force:Replace a store that can be used, and keep it')
      ;;
    "demo")
      commands=()
      options=(
        '--help:Print this help message and exit'
        '--seconds:How long, about'
        '--workers:Worker processes'
        '--seed:Repeat the course of kills of an earlier run'
        '--keep:Use this folder and keep it')
      ;;
    "version")
      commands=()
      options=(
        '--help:Print this help message and exit')
      ;;
    "help")
      commands=()
      options=(
        '--help:Print this help message and exit')
      ;;
    "completion")
      commands=()
      options=(
        '--help:Print this help message and exit')
      choices=(bash zsh fish)
      ;;
  esac
  (( $#commands )) && _describe command commands && found=0
  (( $#choices )) && compadd -- $choices && found=0
  _describe option options && found=0
  [[ -n $path_ ]] && _describe 'option of every command' everywhere && found=0
  return found
}
_holdfast "$@"
