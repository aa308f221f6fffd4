# fish completion for holdfast; made by 'holdfast completion fish'
function __holdfast_at
    set -l path ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim "$path $word")
        contains -- $next 'task' 'task add' 'task list' 'task show' 'task explain' 'task logs' 'task retry' 'task cancel' 'queue' 'queue status' 'queue pause' 'queue resume' 'queue recover' 'queue recovery-status' 'queue recovery-report' 'queue metrics' 'schedule' 'schedule add' 'schedule list' 'schedule pause' 'schedule resume' 'schedule remove' 'limit' 'limit set' 'limit list' 'limit remove' 'worker' 'worker run' 'worker list' 'http' 'http get' 'http post' 'http put' 'http patch' 'http delete' 'http head' 'http run' 'http list' 'http stats' 'tx' 'tx start' 'tx list' 'tx show' 'tx cancel' 'tx retry' 'tx signal' 'tx cleanup' 'results' 'results run' 'results send' 'results receive' 'results dead-letters' 'results dead-letters list' 'results dead-letters show' 'results dead-letters replay' 'results dead-letters discard' 'batch' 'batch submit' 'batch append' 'batch watch' 'batch release' 'batch abort' 'batch status' 'batch rows' 'batch output' 'batch run' 'batch recover' 'batch list' 'serve' 'user' 'user add' 'user list' 'user remove' 'token' 'token add' 'token list' 'token revoke' 'top' 'config' 'config check' 'doctor' 'migrate' 'move' 'backup' 'restore' 'demo' 'version' 'help' 'completion'
        and set path $next
    end
    test "$path" = "$argv[1]"
end
complete -c holdfast -f
complete -c holdfast -n '__holdfast_at \'\'' -a task -d 'Enqueue tasks, look at them, act on them'
complete -c holdfast -n '__holdfast_at \'\'' -a queue -d 'Look at queues, pause them, recover their work'
complete -c holdfast -n '__holdfast_at \'\'' -a schedule -d 'Enqueue tasks again and again, as cron does'
complete -c holdfast -n '__holdfast_at \'\'' -a limit -d 'Limit what runs, in all workers together'
complete -c holdfast -n '__holdfast_at \'\'' -a worker -d 'Run a worker, list workers'
complete -c holdfast -n '__holdfast_at \'\'' -a http -d 'Make HTTP requests that survive kill -9'
complete -c holdfast -n '__holdfast_at \'\'' -a tx -d 'Transactions: state machines that survive kill -9'
complete -c holdfast -n '__holdfast_at \'\'' -a results -d 'Collect large results that arrive in parts'
complete -c holdfast -n '__holdfast_at \'\'' -a batch -d 'Process many rows in many workers, with one result'
complete -c holdfast -n '__holdfast_at \'\'' -a serve -d 'Serve the HTTP API and the dashboard, and recover'
complete -c holdfast -n '__holdfast_at \'\'' -a user -d 'Who may log in to \'holdfast serve\''
complete -c holdfast -n '__holdfast_at \'\'' -a token -d 'Credentials of programs for \'holdfast serve\''
complete -c holdfast -n '__holdfast_at \'\'' -a top -d 'Watch queues, workers and recoveries live; q ends it'
complete -c holdfast -n '__holdfast_at \'\'' -a config -d 'Configuration files'
complete -c holdfast -n '__holdfast_at \'\'' -a doctor -d 'Say how the store is, what is wrong with it, and what to do'
complete -c holdfast -n '__holdfast_at \'\'' -a migrate -d 'Make the tables of a store on PostgreSQL, or bring them to this version'
complete -c holdfast -n '__holdfast_at \'\'' -a move -d 'Move everything in a store to another one, while it is used'
complete -c holdfast -n '__holdfast_at \'\'' -a backup -d 'Copy the store into a file while everybody works'
complete -c holdfast -n '__holdfast_at \'\'' -a restore -d 'Put a backup in the place of the store; unfinished tasks are held'
complete -c holdfast -n '__holdfast_at \'\'' -a demo -d 'Kill workers at random and see that nothing is lost'
complete -c holdfast -n '__holdfast_at \'\'' -a version -d 'Print the version'
complete -c holdfast -n '__holdfast_at \'\'' -a help -d 'Show how a command is used'
complete -c holdfast -n '__holdfast_at \'\'' -a completion -d 'Print the completion script of a shell'
complete -c holdfast -l help -d 'Print this help message and exit'
complete -c holdfast -l store -d 'Address of the store; default: the configuration\'s, else sqlite:holdfast.db' -x
complete -c holdfast -l config -d 'Configuration file (YAML)' -r -F
complete -c holdfast -l version -d 'Print the version'
complete -c holdfast -l json -d 'Print JSON: one object a line'
complete -c holdfast -l quiet -d 'Print results only, no confirmations'
complete -c holdfast -n '__holdfast_at \'task\'' -a add -d 'Enqueue tasks; prints one id a line'
complete -c holdfast -n '__holdfast_at \'task\'' -a list -d 'List tasks, newest first'
complete -c holdfast -n '__holdfast_at \'task\'' -a show -d 'Show everything about a task'
complete -c holdfast -n '__holdfast_at \'task\'' -a explain -d 'Say why a task is not running'
complete -c holdfast -n '__holdfast_at \'task\'' -a logs -d 'Print the log lines of a task'
complete -c holdfast -n '__holdfast_at \'task\'' -a retry -d 'Run failed, held or cancelled tasks again, afresh'
complete -c holdfast -n '__holdfast_at \'task\'' -a cancel -d 'Call tasks off; running ones are asked'
complete -c holdfast -n '__holdfast_at \'task\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'task add\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'task add\'' -l queue -d 'Queue; default: default' -x
complete -c holdfast -n '__holdfast_at \'task add\'' -l priority -d '1 (first) to 5 (last); default: 3' -x
complete -c holdfast -n '__holdfast_at \'task add\'' -l unique -d 'At most one unfinished task has this key; prints the id of that one' -x
complete -c holdfast -n '__holdfast_at \'task add\'' -l limit-key -d 'Whose task it is, such as a tenant\'s; see \'holdfast limit\'' -x
complete -c holdfast -n '__holdfast_at \'task add\'' -l tag -d 'A tag to search by; repeatable' -x
complete -c holdfast -n '__holdfast_at \'task add\'' -l max-attempts -d 'Failures after which it becomes a dead letter; default: 3' -x
complete -c holdfast -n '__holdfast_at \'task add\'' -l delay -d 'Run no sooner than this from now (10s, 5m)' -x
complete -c holdfast -n '__holdfast_at \'task add\'' -l at -d 'Run no sooner than this (2026-03-01T12:00:00Z)' -x
complete -c holdfast -n '__holdfast_at \'task add\'' -l timeout -d 'Longest an attempt may take; default: 1h' -x
complete -c holdfast -n '__holdfast_at \'task add\'' -l after -d 'Run after this task has completed; repeatable' -x
complete -c holdfast -n '__holdfast_at \'task add\'' -l traceparent -d 'The trace that it belongs to, as W3C\'s Trace Context writes it' -x
complete -c holdfast -n '__holdfast_at \'task add\'' -l count -d 'Enqueue so many of them; default: 1' -x
complete -c holdfast -n '__holdfast_at \'task add\'' -l file -d 'One task for each line, a JSON payload; - is stdin' -r -F
complete -c holdfast -n '__holdfast_at \'task list\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'task list\'' -l status -d 'Only tasks in this state; repeatable' -x -a 'pending running completed failed cancelled blocked held'
complete -c holdfast -n '__holdfast_at \'task list\'' -l state -d 'Only tasks in this state; repeatable' -x -a 'pending running completed failed cancelled blocked held'
complete -c holdfast -n '__holdfast_at \'task list\'' -l queue -d 'Only tasks of this queue' -x
complete -c holdfast -n '__holdfast_at \'task list\'' -l kind -d 'Only tasks of this kind' -x
complete -c holdfast -n '__holdfast_at \'task list\'' -l tag -d 'Only tasks with this tag' -x
complete -c holdfast -n '__holdfast_at \'task list\'' -l priority -d 'Only tasks of this priority' -x
complete -c holdfast -n '__holdfast_at \'task list\'' -l since -d 'Only tasks created since a time, or ago (2h)' -x
complete -c holdfast -n '__holdfast_at \'task list\'' -l limit -d 'At most so many; default: 50' -x
complete -c holdfast -n '__holdfast_at \'task list\'' -l offset -d 'Skip so many; default: 0' -x
complete -c holdfast -n '__holdfast_at \'task list\'' -l reverse -d 'Oldest first'
complete -c holdfast -n '__holdfast_at \'task show\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'task show\'' -l blobs -d 'Where large requests and answers are kept: dir:FOLDER, azure://ACCOUNT/CONTAINER or s3://BUCKET' -x
complete -c holdfast -n '__holdfast_at \'task show\'' -l blob-mode -d 'Mode of the files of blobs in a folder: 0600, or 0640 so that the group of the folder can read them; default: the configuration\'s, else 0600' -x -a '0600 0640'
complete -c holdfast -n '__holdfast_at \'task show\'' -l payload-key -d 'File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable' -x
complete -c holdfast -n '__holdfast_at \'task explain\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'task logs\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'task retry\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'task retry\'' -l status -d 'Only tasks in this state; repeatable' -x -a 'pending running completed failed cancelled blocked held'
complete -c holdfast -n '__holdfast_at \'task retry\'' -l state -d 'Only tasks in this state; repeatable' -x -a 'pending running completed failed cancelled blocked held'
complete -c holdfast -n '__holdfast_at \'task retry\'' -l queue -d 'Only tasks of this queue' -x
complete -c holdfast -n '__holdfast_at \'task retry\'' -l kind -d 'Only tasks of this kind' -x
complete -c holdfast -n '__holdfast_at \'task retry\'' -l tag -d 'Only tasks with this tag' -x
complete -c holdfast -n '__holdfast_at \'task retry\'' -l priority -d 'Only tasks of this priority' -x
complete -c holdfast -n '__holdfast_at \'task retry\'' -l since -d 'Only tasks created since a time, or ago (2h)' -x
complete -c holdfast -n '__holdfast_at \'task retry\'' -l all -d 'Every task that can be'
complete -c holdfast -n '__holdfast_at \'task retry\'' -l yes -d 'Do not ask'
complete -c holdfast -n '__holdfast_at \'task cancel\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'task cancel\'' -l status -d 'Only tasks in this state; repeatable' -x -a 'pending running completed failed cancelled blocked held'
complete -c holdfast -n '__holdfast_at \'task cancel\'' -l state -d 'Only tasks in this state; repeatable' -x -a 'pending running completed failed cancelled blocked held'
complete -c holdfast -n '__holdfast_at \'task cancel\'' -l queue -d 'Only tasks of this queue' -x
complete -c holdfast -n '__holdfast_at \'task cancel\'' -l kind -d 'Only tasks of this kind' -x
complete -c holdfast -n '__holdfast_at \'task cancel\'' -l tag -d 'Only tasks with this tag' -x
complete -c holdfast -n '__holdfast_at \'task cancel\'' -l priority -d 'Only tasks of this priority' -x
complete -c holdfast -n '__holdfast_at \'task cancel\'' -l since -d 'Only tasks created since a time, or ago (2h)' -x
complete -c holdfast -n '__holdfast_at \'task cancel\'' -l all -d 'Every task that can be'
complete -c holdfast -n '__holdfast_at \'task cancel\'' -l yes -d 'Do not ask'
complete -c holdfast -n '__holdfast_at \'task cancel\'' -l force -d 'Take running tasks from their workers now; whatever those write is refused'
complete -c holdfast -n '__holdfast_at \'queue\'' -a status -d 'Count the tasks of each queue by state'
complete -c holdfast -n '__holdfast_at \'queue\'' -a pause -d 'Start no more tasks of a queue'
complete -c holdfast -n '__holdfast_at \'queue\'' -a resume -d 'Let a paused queue go on'
complete -c holdfast -n '__holdfast_at \'queue\'' -a recover -d 'Take back now what dead workers held, and report'
complete -c holdfast -n '__holdfast_at \'queue\'' -a recovery-status -d 'Say whether work of dead workers waits to be taken back'
complete -c holdfast -n '__holdfast_at \'queue\'' -a recovery-report -d 'Print the last report of a recovery'
complete -c holdfast -n '__holdfast_at \'queue\'' -a metrics -d 'Print the numbers of the store for Prometheus'
complete -c holdfast -n '__holdfast_at \'queue\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'queue status\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'queue pause\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'queue resume\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'queue recover\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'queue recover\'' -l action -d 'What to do with their tasks; default: the configuration\'s' -x -a 'retry fail pending'
complete -c holdfast -n '__holdfast_at \'queue recover\'' -l dry-run -d 'Only say what would be done'
complete -c holdfast -n '__holdfast_at \'queue recovery-status\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'queue recovery-report\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'queue recovery-report\'' -l last -d 'So many, newest first; default: 1' -x
complete -c holdfast -n '__holdfast_at \'queue metrics\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'schedule\'' -a add -d 'Add a schedule, or change the one of that name'
complete -c holdfast -n '__holdfast_at \'schedule\'' -a list -d 'Schedules, their next times and their last'
complete -c holdfast -n '__holdfast_at \'schedule\'' -a pause -d 'Enqueue nothing until it is resumed'
complete -c holdfast -n '__holdfast_at \'schedule\'' -a resume -d 'Go on with the next time'
complete -c holdfast -n '__holdfast_at \'schedule\'' -a remove -d 'Remove a schedule; its tasks stay'
complete -c holdfast -n '__holdfast_at \'schedule\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'schedule add\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'schedule add\'' -l zone -d 'Time zone of CRON, such as Europe/Berlin; default: UTC' -x
complete -c holdfast -n '__holdfast_at \'schedule add\'' -l missed -d 'What to do about times that no worker was there for; default: once' -x -a 'skip once all'
complete -c holdfast -n '__holdfast_at \'schedule add\'' -l queue -d 'Queue; default: default' -x
complete -c holdfast -n '__holdfast_at \'schedule add\'' -l priority -d '1 (first) to 5 (last); default: 3' -x
complete -c holdfast -n '__holdfast_at \'schedule add\'' -l unique -d 'At most one unfinished task has this key; prints the id of that one' -x
complete -c holdfast -n '__holdfast_at \'schedule add\'' -l limit-key -d 'Whose task it is, such as a tenant\'s; see \'holdfast limit\'' -x
complete -c holdfast -n '__holdfast_at \'schedule add\'' -l tag -d 'A tag to search by; repeatable' -x
complete -c holdfast -n '__holdfast_at \'schedule add\'' -l max-attempts -d 'Failures after which it becomes a dead letter; default: 3' -x
complete -c holdfast -n '__holdfast_at \'schedule add\'' -l delay -d 'Run no sooner than this after each time' -x
complete -c holdfast -n '__holdfast_at \'schedule add\'' -l timeout -d 'Longest an attempt may take; default: 1h' -x
complete -c holdfast -n '__holdfast_at \'schedule list\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'schedule pause\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'schedule resume\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'schedule remove\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'limit\'' -a set -d 'Set a limit, in place of the one before'
complete -c holdfast -n '__holdfast_at \'limit\'' -a list -d 'Limits, and how much of each is in use'
complete -c holdfast -n '__holdfast_at \'limit\'' -a remove -d 'Remove a limit'
complete -c holdfast -n '__holdfast_at \'limit\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'limit set\'' -a queue
complete -c holdfast -n '__holdfast_at \'limit set\'' -a kind
complete -c holdfast -n '__holdfast_at \'limit set\'' -a key
complete -c holdfast -n '__holdfast_at \'limit set\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'limit set\'' -l max-running -d 'So many may run at once; 0: none' -x
complete -c holdfast -n '__holdfast_at \'limit set\'' -l rate -d 'So many may start in a time (100/1m)' -x
complete -c holdfast -n '__holdfast_at \'limit set\'' -l burst -d 'So many may start at once after a pause; default: as many as --rate says' -x
complete -c holdfast -n '__holdfast_at \'limit list\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'limit remove\'' -a queue
complete -c holdfast -n '__holdfast_at \'limit remove\'' -a kind
complete -c holdfast -n '__holdfast_at \'limit remove\'' -a key
complete -c holdfast -n '__holdfast_at \'limit remove\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'worker\'' -a run -d 'Run tasks with a program as their handler'
complete -c holdfast -n '__holdfast_at \'worker\'' -a list -d 'List workers, running ones first'
complete -c holdfast -n '__holdfast_at \'worker\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'worker run\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'worker run\'' -l exec -d 'Shell command that gets the payload on its standard input; exit 0 done, 75 retry, 65 fail for good, else a failure. Or write the program and its arguments after --' -x
complete -c holdfast -n '__holdfast_at \'worker run\'' -l kind -d 'Kind of tasks it is for; repeatable' -x
complete -c holdfast -n '__holdfast_at \'worker run\'' -l queue -d 'Take from this queue only; repeatable' -x
complete -c holdfast -n '__holdfast_at \'worker run\'' -l concurrency -d 'So many at once; default: the configuration\'s, else one for each core' -x
complete -c holdfast -n '__holdfast_at \'worker run\'' -l metrics-file -d 'Keep this file up to date with what this worker counts, for Prometheus' -r -F
complete -c holdfast -n '__holdfast_at \'worker run\'' -l until-empty -d 'End when nothing is left to run'
complete -c holdfast -n '__holdfast_at \'worker run\'' -l pass-env -d 'Pass this environment variable to the program although Holdfast withholds it, such as HOLDFAST_STORE or PGPASSWORD; repeatable' -x
complete -c holdfast -n '__holdfast_at \'worker run\'' -l blobs -d 'Where large requests and answers are kept: dir:FOLDER, azure://ACCOUNT/CONTAINER or s3://BUCKET' -x
complete -c holdfast -n '__holdfast_at \'worker run\'' -l blob-mode -d 'Mode of the files of blobs in a folder: 0600, or 0640 so that the group of the folder can read them; default: the configuration\'s, else 0600' -x -a '0600 0640'
complete -c holdfast -n '__holdfast_at \'worker run\'' -l payload-key -d 'File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable' -x
complete -c holdfast -n '__holdfast_at \'worker run\'' -l accept-plain -d 'Accept requests and answers that are neither encrypted nor signed although there is a key; for those from before it was set'
complete -c holdfast -n '__holdfast_at \'worker run\'' -l refuse-unbound -d 'Refuse what earlier versions encrypted, which is not bound to its task'
complete -c holdfast -n '__holdfast_at \'worker run\'' -l require-sealed -d 'Hold tasks of this kind whose payload is neither encrypted nor signed; KIND* for all that begin so; repeatable' -x
complete -c holdfast -n '__holdfast_at \'worker run\'' -l otlp -d 'Send spans of attempts to this collector for OpenTelemetry, such as http://127.0.0.1:4318; default: OTEL_EXPORTER_OTLP_ENDPOINT, else the configuration\'s, else none' -x
complete -c holdfast -n '__holdfast_at \'worker run\'' -l log-format -d 'How the log on standard error is written; default: the configuration\'s, else text' -x -a 'text json'
complete -c holdfast -n '__holdfast_at \'worker list\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'worker list\'' -l show-heartbeat -d 'Also when each was last heard of, what it holds, and how we know'
complete -c holdfast -n '__holdfast_at \'worker list\'' -l state -d 'Only workers in this state' -x -a 'running stopped dead'
complete -c holdfast -n '__holdfast_at \'http\'' -a get -d 'Enqueue a GET request'
complete -c holdfast -n '__holdfast_at \'http\'' -a post -d 'Enqueue a POST request'
complete -c holdfast -n '__holdfast_at \'http\'' -a put -d 'Enqueue a PUT request'
complete -c holdfast -n '__holdfast_at \'http\'' -a patch -d 'Enqueue a PATCH request'
complete -c holdfast -n '__holdfast_at \'http\'' -a delete -d 'Enqueue a DELETE request'
complete -c holdfast -n '__holdfast_at \'http\'' -a head -d 'Enqueue a HEAD request'
complete -c holdfast -n '__holdfast_at \'http\'' -a run -d 'Perform requests, thousands at once'
complete -c holdfast -n '__holdfast_at \'http\'' -a list -d 'List requests in flight'
complete -c holdfast -n '__holdfast_at \'http\'' -a stats -d 'Count requests, statuses, errors and how long they took'
complete -c holdfast -n '__holdfast_at \'http\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'http get\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'http get\'' -l header -d 'Header \'Name: value\'; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l secret-header -d 'Header \'Name: secret\', whose value is looked up by whoever sends; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l param -d 'Parameter name=value for the URL; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l timeout -d 'For each hop, such as 5s; default: 30s' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l host-patience -d 'How long to wait for a host whose circuit breaker is open, from when it opened; default: the processor\'s setting' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l max-redirects -d 'Follow so many; default: what whoever sends it says; 0 follows none' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l attempts -d 'Give up after so many; default: 4' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l sign-with -d 'Name of a key of whoever sends' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l raise -d 'Take answers of 400 and more for errors'
complete -c holdfast -n '__holdfast_at \'http get\'' -l callback -d 'Kind of the task that gets the answer' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l callback-queue -d 'Queue of that task; default: default' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l context -d 'JSON that the callback gets, too' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l queue -d 'Queue; default: default' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l priority -d '1 (first) to 5 (last); default: 3' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l unique -d 'At most one unfinished task has this key; prints the id of that one' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l limit-key -d 'Whose task it is, such as a tenant\'s; see \'holdfast limit\'' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l tag -d 'A tag to search by; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l delay -d 'Send it no sooner than this from now (10s, 5m)' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l print -d 'Perform it now and print the answer'
complete -c holdfast -n '__holdfast_at \'http get\'' -l allow-private -d 'Connect to private addresses and this host, too; for tests and intranets'
complete -c holdfast -n '__holdfast_at \'http get\'' -l allow -d 'Connect to this network (10.1.0.0/16) or host, too; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l proxy -d 'Connect through this proxy (http:// or https://)' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l ca-file -d 'Certificates to trust; default: the system\'s' -r -F
complete -c holdfast -n '__holdfast_at \'http get\'' -l secrets -d 'Folder with a file for each secret that headers may name, and a file NAME.bind with the hosts that it may be sent to' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l signing-key -d 'File with a key that requests are signed with by name, beside FILE.bind with the hosts that may get them; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l blobs -d 'Where large requests and answers are kept: dir:FOLDER, azure://ACCOUNT/CONTAINER or s3://BUCKET' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l blob-mode -d 'Mode of the files of blobs in a folder: 0600, or 0640 so that the group of the folder can read them; default: the configuration\'s, else 0600' -x -a '0600 0640'
complete -c holdfast -n '__holdfast_at \'http get\'' -l payload-key -d 'File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http get\'' -l sign-payloads -d 'Sign requests and answers with the key instead of encrypting them: they can be read in the store, but not forged'
complete -c holdfast -n '__holdfast_at \'http get\'' -l blob-threshold -d 'Keep in blobs what is larger; default: 65536' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'http post\'' -l header -d 'Header \'Name: value\'; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l secret-header -d 'Header \'Name: secret\', whose value is looked up by whoever sends; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l param -d 'Parameter name=value for the URL; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l data -d 'The body' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l data-file -d 'File with the body; - is stdin' -r -F
complete -c holdfast -n '__holdfast_at \'http post\'' -l hold -d 'Do not send it again by itself once it may have been sent'
complete -c holdfast -n '__holdfast_at \'http post\'' -l timeout -d 'For each hop, such as 5s; default: 30s' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l host-patience -d 'How long to wait for a host whose circuit breaker is open, from when it opened; default: the processor\'s setting' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l max-redirects -d 'Follow so many; default: what whoever sends it says; 0 follows none' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l attempts -d 'Give up after so many; default: 4' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l sign-with -d 'Name of a key of whoever sends' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l raise -d 'Take answers of 400 and more for errors'
complete -c holdfast -n '__holdfast_at \'http post\'' -l callback -d 'Kind of the task that gets the answer' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l callback-queue -d 'Queue of that task; default: default' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l context -d 'JSON that the callback gets, too' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l queue -d 'Queue; default: default' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l priority -d '1 (first) to 5 (last); default: 3' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l unique -d 'At most one unfinished task has this key; prints the id of that one' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l limit-key -d 'Whose task it is, such as a tenant\'s; see \'holdfast limit\'' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l tag -d 'A tag to search by; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l delay -d 'Send it no sooner than this from now (10s, 5m)' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l print -d 'Perform it now and print the answer'
complete -c holdfast -n '__holdfast_at \'http post\'' -l allow-private -d 'Connect to private addresses and this host, too; for tests and intranets'
complete -c holdfast -n '__holdfast_at \'http post\'' -l allow -d 'Connect to this network (10.1.0.0/16) or host, too; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l proxy -d 'Connect through this proxy (http:// or https://)' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l ca-file -d 'Certificates to trust; default: the system\'s' -r -F
complete -c holdfast -n '__holdfast_at \'http post\'' -l secrets -d 'Folder with a file for each secret that headers may name, and a file NAME.bind with the hosts that it may be sent to' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l signing-key -d 'File with a key that requests are signed with by name, beside FILE.bind with the hosts that may get them; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l blobs -d 'Where large requests and answers are kept: dir:FOLDER, azure://ACCOUNT/CONTAINER or s3://BUCKET' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l blob-mode -d 'Mode of the files of blobs in a folder: 0600, or 0640 so that the group of the folder can read them; default: the configuration\'s, else 0600' -x -a '0600 0640'
complete -c holdfast -n '__holdfast_at \'http post\'' -l payload-key -d 'File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http post\'' -l sign-payloads -d 'Sign requests and answers with the key instead of encrypting them: they can be read in the store, but not forged'
complete -c holdfast -n '__holdfast_at \'http post\'' -l blob-threshold -d 'Keep in blobs what is larger; default: 65536' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'http put\'' -l header -d 'Header \'Name: value\'; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l secret-header -d 'Header \'Name: secret\', whose value is looked up by whoever sends; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l param -d 'Parameter name=value for the URL; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l data -d 'The body' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l data-file -d 'File with the body; - is stdin' -r -F
complete -c holdfast -n '__holdfast_at \'http put\'' -l timeout -d 'For each hop, such as 5s; default: 30s' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l host-patience -d 'How long to wait for a host whose circuit breaker is open, from when it opened; default: the processor\'s setting' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l max-redirects -d 'Follow so many; default: what whoever sends it says; 0 follows none' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l attempts -d 'Give up after so many; default: 4' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l sign-with -d 'Name of a key of whoever sends' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l raise -d 'Take answers of 400 and more for errors'
complete -c holdfast -n '__holdfast_at \'http put\'' -l callback -d 'Kind of the task that gets the answer' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l callback-queue -d 'Queue of that task; default: default' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l context -d 'JSON that the callback gets, too' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l queue -d 'Queue; default: default' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l priority -d '1 (first) to 5 (last); default: 3' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l unique -d 'At most one unfinished task has this key; prints the id of that one' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l limit-key -d 'Whose task it is, such as a tenant\'s; see \'holdfast limit\'' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l tag -d 'A tag to search by; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l delay -d 'Send it no sooner than this from now (10s, 5m)' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l print -d 'Perform it now and print the answer'
complete -c holdfast -n '__holdfast_at \'http put\'' -l allow-private -d 'Connect to private addresses and this host, too; for tests and intranets'
complete -c holdfast -n '__holdfast_at \'http put\'' -l allow -d 'Connect to this network (10.1.0.0/16) or host, too; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l proxy -d 'Connect through this proxy (http:// or https://)' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l ca-file -d 'Certificates to trust; default: the system\'s' -r -F
complete -c holdfast -n '__holdfast_at \'http put\'' -l secrets -d 'Folder with a file for each secret that headers may name, and a file NAME.bind with the hosts that it may be sent to' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l signing-key -d 'File with a key that requests are signed with by name, beside FILE.bind with the hosts that may get them; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l blobs -d 'Where large requests and answers are kept: dir:FOLDER, azure://ACCOUNT/CONTAINER or s3://BUCKET' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l blob-mode -d 'Mode of the files of blobs in a folder: 0600, or 0640 so that the group of the folder can read them; default: the configuration\'s, else 0600' -x -a '0600 0640'
complete -c holdfast -n '__holdfast_at \'http put\'' -l payload-key -d 'File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http put\'' -l sign-payloads -d 'Sign requests and answers with the key instead of encrypting them: they can be read in the store, but not forged'
complete -c holdfast -n '__holdfast_at \'http put\'' -l blob-threshold -d 'Keep in blobs what is larger; default: 65536' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'http patch\'' -l header -d 'Header \'Name: value\'; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l secret-header -d 'Header \'Name: secret\', whose value is looked up by whoever sends; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l param -d 'Parameter name=value for the URL; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l data -d 'The body' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l data-file -d 'File with the body; - is stdin' -r -F
complete -c holdfast -n '__holdfast_at \'http patch\'' -l hold -d 'Do not send it again by itself once it may have been sent'
complete -c holdfast -n '__holdfast_at \'http patch\'' -l timeout -d 'For each hop, such as 5s; default: 30s' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l host-patience -d 'How long to wait for a host whose circuit breaker is open, from when it opened; default: the processor\'s setting' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l max-redirects -d 'Follow so many; default: what whoever sends it says; 0 follows none' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l attempts -d 'Give up after so many; default: 4' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l sign-with -d 'Name of a key of whoever sends' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l raise -d 'Take answers of 400 and more for errors'
complete -c holdfast -n '__holdfast_at \'http patch\'' -l callback -d 'Kind of the task that gets the answer' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l callback-queue -d 'Queue of that task; default: default' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l context -d 'JSON that the callback gets, too' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l queue -d 'Queue; default: default' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l priority -d '1 (first) to 5 (last); default: 3' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l unique -d 'At most one unfinished task has this key; prints the id of that one' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l limit-key -d 'Whose task it is, such as a tenant\'s; see \'holdfast limit\'' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l tag -d 'A tag to search by; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l delay -d 'Send it no sooner than this from now (10s, 5m)' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l print -d 'Perform it now and print the answer'
complete -c holdfast -n '__holdfast_at \'http patch\'' -l allow-private -d 'Connect to private addresses and this host, too; for tests and intranets'
complete -c holdfast -n '__holdfast_at \'http patch\'' -l allow -d 'Connect to this network (10.1.0.0/16) or host, too; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l proxy -d 'Connect through this proxy (http:// or https://)' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l ca-file -d 'Certificates to trust; default: the system\'s' -r -F
complete -c holdfast -n '__holdfast_at \'http patch\'' -l secrets -d 'Folder with a file for each secret that headers may name, and a file NAME.bind with the hosts that it may be sent to' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l signing-key -d 'File with a key that requests are signed with by name, beside FILE.bind with the hosts that may get them; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l blobs -d 'Where large requests and answers are kept: dir:FOLDER, azure://ACCOUNT/CONTAINER or s3://BUCKET' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l blob-mode -d 'Mode of the files of blobs in a folder: 0600, or 0640 so that the group of the folder can read them; default: the configuration\'s, else 0600' -x -a '0600 0640'
complete -c holdfast -n '__holdfast_at \'http patch\'' -l payload-key -d 'File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http patch\'' -l sign-payloads -d 'Sign requests and answers with the key instead of encrypting them: they can be read in the store, but not forged'
complete -c holdfast -n '__holdfast_at \'http patch\'' -l blob-threshold -d 'Keep in blobs what is larger; default: 65536' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'http delete\'' -l header -d 'Header \'Name: value\'; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l secret-header -d 'Header \'Name: secret\', whose value is looked up by whoever sends; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l param -d 'Parameter name=value for the URL; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l timeout -d 'For each hop, such as 5s; default: 30s' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l host-patience -d 'How long to wait for a host whose circuit breaker is open, from when it opened; default: the processor\'s setting' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l max-redirects -d 'Follow so many; default: what whoever sends it says; 0 follows none' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l attempts -d 'Give up after so many; default: 4' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l sign-with -d 'Name of a key of whoever sends' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l raise -d 'Take answers of 400 and more for errors'
complete -c holdfast -n '__holdfast_at \'http delete\'' -l callback -d 'Kind of the task that gets the answer' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l callback-queue -d 'Queue of that task; default: default' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l context -d 'JSON that the callback gets, too' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l queue -d 'Queue; default: default' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l priority -d '1 (first) to 5 (last); default: 3' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l unique -d 'At most one unfinished task has this key; prints the id of that one' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l limit-key -d 'Whose task it is, such as a tenant\'s; see \'holdfast limit\'' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l tag -d 'A tag to search by; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l delay -d 'Send it no sooner than this from now (10s, 5m)' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l print -d 'Perform it now and print the answer'
complete -c holdfast -n '__holdfast_at \'http delete\'' -l allow-private -d 'Connect to private addresses and this host, too; for tests and intranets'
complete -c holdfast -n '__holdfast_at \'http delete\'' -l allow -d 'Connect to this network (10.1.0.0/16) or host, too; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l proxy -d 'Connect through this proxy (http:// or https://)' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l ca-file -d 'Certificates to trust; default: the system\'s' -r -F
complete -c holdfast -n '__holdfast_at \'http delete\'' -l secrets -d 'Folder with a file for each secret that headers may name, and a file NAME.bind with the hosts that it may be sent to' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l signing-key -d 'File with a key that requests are signed with by name, beside FILE.bind with the hosts that may get them; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l blobs -d 'Where large requests and answers are kept: dir:FOLDER, azure://ACCOUNT/CONTAINER or s3://BUCKET' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l blob-mode -d 'Mode of the files of blobs in a folder: 0600, or 0640 so that the group of the folder can read them; default: the configuration\'s, else 0600' -x -a '0600 0640'
complete -c holdfast -n '__holdfast_at \'http delete\'' -l payload-key -d 'File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http delete\'' -l sign-payloads -d 'Sign requests and answers with the key instead of encrypting them: they can be read in the store, but not forged'
complete -c holdfast -n '__holdfast_at \'http delete\'' -l blob-threshold -d 'Keep in blobs what is larger; default: 65536' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'http head\'' -l header -d 'Header \'Name: value\'; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l secret-header -d 'Header \'Name: secret\', whose value is looked up by whoever sends; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l param -d 'Parameter name=value for the URL; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l timeout -d 'For each hop, such as 5s; default: 30s' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l host-patience -d 'How long to wait for a host whose circuit breaker is open, from when it opened; default: the processor\'s setting' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l max-redirects -d 'Follow so many; default: what whoever sends it says; 0 follows none' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l attempts -d 'Give up after so many; default: 4' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l sign-with -d 'Name of a key of whoever sends' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l raise -d 'Take answers of 400 and more for errors'
complete -c holdfast -n '__holdfast_at \'http head\'' -l callback -d 'Kind of the task that gets the answer' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l callback-queue -d 'Queue of that task; default: default' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l context -d 'JSON that the callback gets, too' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l queue -d 'Queue; default: default' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l priority -d '1 (first) to 5 (last); default: 3' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l unique -d 'At most one unfinished task has this key; prints the id of that one' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l limit-key -d 'Whose task it is, such as a tenant\'s; see \'holdfast limit\'' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l tag -d 'A tag to search by; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l delay -d 'Send it no sooner than this from now (10s, 5m)' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l print -d 'Perform it now and print the answer'
complete -c holdfast -n '__holdfast_at \'http head\'' -l allow-private -d 'Connect to private addresses and this host, too; for tests and intranets'
complete -c holdfast -n '__holdfast_at \'http head\'' -l allow -d 'Connect to this network (10.1.0.0/16) or host, too; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l proxy -d 'Connect through this proxy (http:// or https://)' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l ca-file -d 'Certificates to trust; default: the system\'s' -r -F
complete -c holdfast -n '__holdfast_at \'http head\'' -l secrets -d 'Folder with a file for each secret that headers may name, and a file NAME.bind with the hosts that it may be sent to' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l signing-key -d 'File with a key that requests are signed with by name, beside FILE.bind with the hosts that may get them; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l blobs -d 'Where large requests and answers are kept: dir:FOLDER, azure://ACCOUNT/CONTAINER or s3://BUCKET' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l blob-mode -d 'Mode of the files of blobs in a folder: 0600, or 0640 so that the group of the folder can read them; default: the configuration\'s, else 0600' -x -a '0600 0640'
complete -c holdfast -n '__holdfast_at \'http head\'' -l payload-key -d 'File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http head\'' -l sign-payloads -d 'Sign requests and answers with the key instead of encrypting them: they can be read in the store, but not forged'
complete -c holdfast -n '__holdfast_at \'http head\'' -l blob-threshold -d 'Keep in blobs what is larger; default: 65536' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'http run\'' -l queue -d 'Take from this queue only; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l capacity -d 'Requests in flight; default: 256' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l per-host -d 'Of them to one host; default: 0, no limit' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l timeout -d 'For each hop of a request that does not say, as those of \'http get\' and clients do; default: 60s' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l connect-timeout -d 'Default: 10s' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l max-redirects -d 'Follow so many; default: 5, 0 follows none' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l max-response -d 'Largest answer in bytes, decoded; default: 1048576' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l raise -d 'Take answers of 400 and more for errors where the request does not say'
complete -c holdfast -n '__holdfast_at \'http run\'' -l user-agent -d 'Who we say that we are; default: holdfast' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l http1 -d 'Speak HTTP/1.1 only, for proxies that cannot bear HTTP/2'
complete -c holdfast -n '__holdfast_at \'http run\'' -l idle-timeout -d 'Use a connection again that was idle for so long; default: 60s' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l idle-connections -d 'Keep so many open, or as many as the capacity if that is more; default: 100' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l dns-cache -d 'Know the address of a host for so long; default: 60s' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l host-failures -d 'Failures in a row after which the circuit breaker of a host opens, so that nothing is sent to it; default: 10, 0: never' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l host-pause -d 'How long until one request tries again whether the host is back; default: 15s' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l host-patience -d 'How long requests wait for such a host before they fail, where they do not say; default: 1m, and 0s for Sidekiq' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l allow-private -d 'Connect to private addresses and this host, too; for tests and intranets'
complete -c holdfast -n '__holdfast_at \'http run\'' -l allow -d 'Connect to this network (10.1.0.0/16) or host, too; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l proxy -d 'Connect through this proxy (http:// or https://)' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l ca-file -d 'Certificates to trust; default: the system\'s' -r -F
complete -c holdfast -n '__holdfast_at \'http run\'' -l secrets -d 'Folder with a file for each secret that headers may name, and a file NAME.bind with the hosts that it may be sent to' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l signing-key -d 'File with a key that requests are signed with by name, beside FILE.bind with the hosts that may get them; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l blobs -d 'Where large requests and answers are kept: dir:FOLDER, azure://ACCOUNT/CONTAINER or s3://BUCKET' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l blob-mode -d 'Mode of the files of blobs in a folder: 0600, or 0640 so that the group of the folder can read them; default: the configuration\'s, else 0600' -x -a '0600 0640'
complete -c holdfast -n '__holdfast_at \'http run\'' -l payload-key -d 'File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l sign-payloads -d 'Sign requests and answers with the key instead of encrypting them: they can be read in the store, but not forged'
complete -c holdfast -n '__holdfast_at \'http run\'' -l blob-threshold -d 'Keep in blobs what is larger; default: 65536' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l accept-plain -d 'Accept requests and answers that are neither encrypted nor signed although there is a key; for those from before it was set'
complete -c holdfast -n '__holdfast_at \'http run\'' -l refuse-unbound -d 'Refuse what earlier versions encrypted, which is not bound to its task'
complete -c holdfast -n '__holdfast_at \'http run\'' -l callback-queue -d 'Sidekiq: where callbacks go; default: the queue of the request' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l heartbeat-interval -d 'Sidekiq: how often requests in flight are vouched for; default: 60s' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l orphan-threshold -d 'Sidekiq: after so long a silence requests are taken over; default: 300s' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l shutdown-timeout -d 'Sidekiq: so long may requests in flight take at the end; default: 23s' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l retries -d 'Sidekiq: try connections that fail again; default: 3 times' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l max-recoveries -d 'Sidekiq: a request that died with its process more often becomes a dead job; default: 3 times' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l require-bound-secrets -d 'Sidekiq: refuse secrets that have no file NAME.bind'
complete -c holdfast -n '__holdfast_at \'http run\'' -l hold-ambiguous -d 'Sidekiq: do not send a POST or PATCH again whose process died meanwhile'
complete -c holdfast -n '__holdfast_at \'http run\'' -l until-empty -d 'End when no request is left; Sidekiq: on its queues'
complete -c holdfast -n '__holdfast_at \'http run\'' -l otlp -d 'Send spans of attempts to this collector for OpenTelemetry, such as http://127.0.0.1:4318; default: OTEL_EXPORTER_OTLP_ENDPOINT, else the configuration\'s, else none' -x
complete -c holdfast -n '__holdfast_at \'http run\'' -l log-format -d 'How the log on standard error is written; default: the configuration\'s, else text' -x -a 'text json'
complete -c holdfast -n '__holdfast_at \'http list\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'http list\'' -l limit -d 'At most so many; default: 50' -x
complete -c holdfast -n '__holdfast_at \'http stats\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'http stats\'' -l newest -d 'Look into the results of so many; default: 10000' -x
complete -c holdfast -n '__holdfast_at \'tx\'' -a start -d 'Start a transaction, and print its id'
complete -c holdfast -n '__holdfast_at \'tx\'' -a list -d 'List transactions, newest first'
complete -c holdfast -n '__holdfast_at \'tx\'' -a show -d 'Show everything about a transaction, and what is missing of a result'
complete -c holdfast -n '__holdfast_at \'tx\'' -a cancel -d 'Call transactions off; running ones are asked'
complete -c holdfast -n '__holdfast_at \'tx\'' -a retry -d 'Run failed, held or cancelled transactions again'
complete -c holdfast -n '__holdfast_at \'tx\'' -a signal -d 'Send a signal to a transaction, such as an approval that it waits for'
complete -c holdfast -n '__holdfast_at \'tx\'' -a cleanup -d 'Remove queues and blobs of results that failed or were cancelled'
complete -c holdfast -n '__holdfast_at \'tx\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'tx start\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'tx start\'' -l id -d 'Its id, so that it can be started again safely; default: a new one' -x
complete -c holdfast -n '__holdfast_at \'tx start\'' -l delay -d 'Not before this time has passed, such as 10m' -x
complete -c holdfast -n '__holdfast_at \'tx list\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'tx list\'' -l machine -d 'Only those of this machine' -x
complete -c holdfast -n '__holdfast_at \'tx list\'' -l status -d 'Only in this state of their task; repeatable' -x
complete -c holdfast -n '__holdfast_at \'tx list\'' -l limit -d 'At most so many; default: 50' -x
complete -c holdfast -n '__holdfast_at \'tx list\'' -l watch -d 'Print again every second, until interrupted'
complete -c holdfast -n '__holdfast_at \'tx show\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'tx show\'' -l ledger -d 'The lines of its ledger, too'
complete -c holdfast -n '__holdfast_at \'tx show\'' -l watch -d 'Print again every second, until interrupted'
complete -c holdfast -n '__holdfast_at \'tx cancel\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'tx cancel\'' -l force -d 'Take running ones from their workers now; whatever those write is refused'
complete -c holdfast -n '__holdfast_at \'tx retry\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'tx retry\'' -l state -d 'Begin in this state; default: where it was, or its first one if it had failed' -x
complete -c holdfast -n '__holdfast_at \'tx signal\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'tx signal\'' -l broker -d 'Where messages are: sqlite:FILE or amqp://USER@HOST/VHOST; default: in the store\'s file' -x
complete -c holdfast -n '__holdfast_at \'tx cleanup\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'tx cleanup\'' -l broker -d 'Where messages are: sqlite:FILE or amqp://USER@HOST/VHOST; default: in the store\'s file' -x
complete -c holdfast -n '__holdfast_at \'tx cleanup\'' -l blobs -d 'Where parts are kept: dir:FOLDER, azure://ACCOUNT/CONTAINER or s3://BUCKET' -x
complete -c holdfast -n '__holdfast_at \'tx cleanup\'' -l blob-mode -d 'Mode of the files of blobs in a folder: 0600, or 0640 so that the group of the folder can read them; default: the configuration\'s, else 0600' -x -a '0600 0640'
complete -c holdfast -n '__holdfast_at \'tx cleanup\'' -l ledger -d 'Where ledgers are kept: redis://HOST:PORT; default: in the store' -x
complete -c holdfast -n '__holdfast_at \'results\'' -a run -d 'Collect results that arrive in parts'
complete -c holdfast -n '__holdfast_at \'results\'' -a send -d 'Send a header, a part or any other message to a queue'
complete -c holdfast -n '__holdfast_at \'results\'' -a receive -d 'Take messages from a queue and print their bodies'
complete -c holdfast -n '__holdfast_at \'results\'' -a dead-letters -d 'Look at messages that were rejected'
complete -c holdfast -n '__holdfast_at \'results\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'results run\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'results run\'' -l broker -d 'Where messages are: sqlite:FILE or amqp://USER@HOST/VHOST; default: in the store\'s file' -x
complete -c holdfast -n '__holdfast_at \'results run\'' -l blobs -d 'Where parts are kept: dir:FOLDER, azure://ACCOUNT/CONTAINER or s3://BUCKET' -x
complete -c holdfast -n '__holdfast_at \'results run\'' -l blob-mode -d 'Mode of the files of blobs in a folder: 0600, or 0640 so that the group of the folder can read them; default: the configuration\'s, else 0600' -x -a '0600 0640'
complete -c holdfast -n '__holdfast_at \'results run\'' -l ledger -d 'Where ledgers are kept: redis://HOST:PORT; default: in the store' -x
complete -c holdfast -n '__holdfast_at \'results run\'' -l request-queue -d 'The producer\'s queue' -x
complete -c holdfast -n '__holdfast_at \'results run\'' -l notify-queue -d 'Queue that is told that a result is complete; repeatable: requests may name one of the others instead' -x
complete -c holdfast -n '__holdfast_at \'results run\'' -l notify-prefix -d 'Requests may also name queues that begin with this; repeatable' -x
complete -c holdfast -n '__holdfast_at \'results run\'' -l intake-queue -d 'Start a result for each message here, too' -x
complete -c holdfast -n '__holdfast_at \'results run\'' -l failure-queue -d 'Queue that is told that a result failed; default: the queue for its notice' -x
complete -c holdfast -n '__holdfast_at \'results run\'' -l abandon-after -d 'Fail a result that has listened for this time without a new part; default: 30m' -x
complete -c holdfast -n '__holdfast_at \'results run\'' -l queue-patience -d 'Replace a queue that cannot be read for this time; 0: never; default: 2m' -x
complete -c holdfast -n '__holdfast_at \'results run\'' -l timeout -d 'For a whole result; default: none' -x
complete -c holdfast -n '__holdfast_at \'results run\'' -l capacity -d 'Results in progress; default: 1000' -x
complete -c holdfast -n '__holdfast_at \'results run\'' -l threads -d 'Handlers at once, which mostly wait; default: 16' -x
complete -c holdfast -n '__holdfast_at \'results run\'' -l prefetch -d 'Megabytes of messages taken ahead; a larger one comes alone; default: 64' -x
complete -c holdfast -n '__holdfast_at \'results run\'' -l metrics-file -d 'Keep this file up to date with what this instance counts, for Prometheus' -r -F
complete -c holdfast -n '__holdfast_at \'results run\'' -l until-empty -d 'End when no result is left'
complete -c holdfast -n '__holdfast_at \'results run\'' -l log-format -d 'How the log on standard error is written; default: the configuration\'s, else text' -x -a 'text json'
complete -c holdfast -n '__holdfast_at \'results send\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'results send\'' -l id -d 'The transaction that it is for; with --queue the id of the message' -x
complete -c holdfast -n '__holdfast_at \'results send\'' -l header -d 'Send the header of a result with SERIES=COUNT, such as Files=3; repeatable' -x
complete -c holdfast -n '__holdfast_at \'results send\'' -l series -d 'Send a part of this series' -x
complete -c holdfast -n '__holdfast_at \'results send\'' -l ordinal -d 'Which part it is; parts begin with 1' -x
complete -c holdfast -n '__holdfast_at \'results send\'' -l queue -d 'Send the bytes as they are to this queue' -x
complete -c holdfast -n '__holdfast_at \'results send\'' -l broker -d 'Where messages are: sqlite:FILE or amqp://USER@HOST/VHOST; default: in the store\'s file' -x
complete -c holdfast -n '__holdfast_at \'results receive\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'results receive\'' -l count -d 'At most this many; default: 1' -x
complete -c holdfast -n '__holdfast_at \'results receive\'' -l wait -d 'How long to wait for them; default: 10s' -x
complete -c holdfast -n '__holdfast_at \'results receive\'' -l declare -d 'Create the queue if it does not exist'
complete -c holdfast -n '__holdfast_at \'results receive\'' -l broker -d 'Where messages are: sqlite:FILE or amqp://USER@HOST/VHOST; default: in the store\'s file' -x
complete -c holdfast -n '__holdfast_at \'results dead-letters\'' -a list -d 'List dead letters with their reasons'
complete -c holdfast -n '__holdfast_at \'results dead-letters\'' -a show -d 'Print the body of a dead letter'
complete -c holdfast -n '__holdfast_at \'results dead-letters\'' -a replay -d 'Send dead letters to their queues again'
complete -c holdfast -n '__holdfast_at \'results dead-letters\'' -a discard -d 'Remove dead letters'
complete -c holdfast -n '__holdfast_at \'results dead-letters\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'results dead-letters list\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'results dead-letters list\'' -l broker -d 'Where messages are: sqlite:FILE or amqp://USER@HOST/VHOST; default: in the store\'s file' -x
complete -c holdfast -n '__holdfast_at \'results dead-letters list\'' -l limit -d 'At most so many; default: 50' -x
complete -c holdfast -n '__holdfast_at \'results dead-letters show\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'results dead-letters show\'' -l broker -d 'Where messages are: sqlite:FILE or amqp://USER@HOST/VHOST; default: in the store\'s file' -x
complete -c holdfast -n '__holdfast_at \'results dead-letters replay\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'results dead-letters replay\'' -l broker -d 'Where messages are: sqlite:FILE or amqp://USER@HOST/VHOST; default: in the store\'s file' -x
complete -c holdfast -n '__holdfast_at \'results dead-letters replay\'' -l all -d 'All of them'
complete -c holdfast -n '__holdfast_at \'results dead-letters discard\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'results dead-letters discard\'' -l broker -d 'Where messages are: sqlite:FILE or amqp://USER@HOST/VHOST; default: in the store\'s file' -x
complete -c holdfast -n '__holdfast_at \'results dead-letters discard\'' -l all -d 'All of them'
complete -c holdfast -n '__holdfast_at \'batch\'' -a submit -d 'Submit the rows of a file as a batch; prints its id'
complete -c holdfast -n '__holdfast_at \'batch\'' -a append -d 'Add rows to a batch that waits'
complete -c holdfast -n '__holdfast_at \'batch\'' -a watch -d 'Submit every file that comes into a folder as a batch'
complete -c holdfast -n '__holdfast_at \'batch\'' -a release -d 'Let a batch run that waits'
complete -c holdfast -n '__holdfast_at \'batch\'' -a abort -d 'Call a batch off: what is not done is aborted'
complete -c holdfast -n '__holdfast_at \'batch\'' -a status -d 'Show how far a batch is'
complete -c holdfast -n '__holdfast_at \'batch\'' -a rows -d 'Show the rows of a batch with their results'
complete -c holdfast -n '__holdfast_at \'batch\'' -a output -d 'List the output files of a batch, or write one to stdout'
complete -c holdfast -n '__holdfast_at \'batch\'' -a run -d 'Process rows with a program'
complete -c holdfast -n '__holdfast_at \'batch\'' -a recover -d 'Take back now the rows that dead workers held, and report'
complete -c holdfast -n '__holdfast_at \'batch\'' -a list -d 'List batches, the newest first'
complete -c holdfast -n '__holdfast_at \'batch\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'batch submit\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'batch submit\'' -l app -d 'Application' -x
complete -c holdfast -n '__holdfast_at \'batch submit\'' -l op -d 'Operation' -x
complete -c holdfast -n '__holdfast_at \'batch submit\'' -l context -d 'For every row; default: {}' -x
complete -c holdfast -n '__holdfast_at \'batch submit\'' -l format -d 'Default: by the name of the file' -x -a 'jsonl csv'
complete -c holdfast -n '__holdfast_at \'batch submit\'' -l then -d 'Enqueue a task of this kind when it ends' -x
complete -c holdfast -n '__holdfast_at \'batch submit\'' -l wait -d 'Hold it until it is released'
complete -c holdfast -n '__holdfast_at \'batch append\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'batch append\'' -l format -d 'Default: by the name of the file' -x -a 'jsonl csv'
complete -c holdfast -n '__holdfast_at \'batch append\'' -l release -d 'And let it run'
complete -c holdfast -n '__holdfast_at \'batch watch\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'batch watch\'' -l app -d 'Application' -x
complete -c holdfast -n '__holdfast_at \'batch watch\'' -l op -d 'Operation' -x
complete -c holdfast -n '__holdfast_at \'batch watch\'' -l context -d 'For every row; default: {}' -x
complete -c holdfast -n '__holdfast_at \'batch watch\'' -l format -d 'Default: by the name of the file' -x -a 'jsonl csv'
complete -c holdfast -n '__holdfast_at \'batch watch\'' -l then -d 'Enqueue a task of this kind when it ends' -x
complete -c holdfast -n '__holdfast_at \'batch watch\'' -l age -d 'Take files that nobody has written to for so long; default: 5s' -x
complete -c holdfast -n '__holdfast_at \'batch watch\'' -l once -d 'Look once and end'
complete -c holdfast -n '__holdfast_at \'batch release\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'batch abort\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'batch abort\'' -l liveness -d 'The Redis of the services that share the tables of batches, such as redis://HOST:PORT' -x
complete -c holdfast -n '__holdfast_at \'batch status\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'batch status\'' -l watch -d 'Until it has ended, with its progress'
complete -c holdfast -n '__holdfast_at \'batch rows\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'batch rows\'' -l status -d 'With this status; repeatable' -x -a 'queued inprog success failed aborted'
complete -c holdfast -n '__holdfast_at \'batch rows\'' -l limit -d 'At most so many; default: 50' -x
complete -c holdfast -n '__holdfast_at \'batch output\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'batch output\'' -l output -d 'Where output files are, such as dir:FOLDER' -x
complete -c holdfast -n '__holdfast_at \'batch run\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'batch run\'' -l exec -d 'Shell command that gets rows as lines of JSON and answers each with a line' -x
complete -c holdfast -n '__holdfast_at \'batch run\'' -l app -d 'Application' -x
complete -c holdfast -n '__holdfast_at \'batch run\'' -l op -d 'Operation; repeatable' -x
complete -c holdfast -n '__holdfast_at \'batch run\'' -l output -d 'Where output files go, such as dir:FOLDER' -x
complete -c holdfast -n '__holdfast_at \'batch run\'' -l blob-mode -d 'Mode of the files of blobs in a folder: 0600, or 0640 so that the group of the folder can read them; default: the configuration\'s, else 0600' -x -a '0600 0640'
complete -c holdfast -n '__holdfast_at \'batch run\'' -l attempts -d 'So often a row is begun before it fails; default: 3' -x
complete -c holdfast -n '__holdfast_at \'batch run\'' -l concurrency -d 'So many programs at once; default: the configuration\'s, else one for each core' -x
complete -c holdfast -n '__holdfast_at \'batch run\'' -l drain-timeout -d 'How long begun rows may take to finish after SIGTERM (default: no limit)' -x
complete -c holdfast -n '__holdfast_at \'batch run\'' -l liveness -d 'The Redis of the services that share the tables of batches, such as redis://HOST:PORT' -x
complete -c holdfast -n '__holdfast_at \'batch run\'' -l queue-unclaimed-after -d 'Queue rows again that workers of another make left in progress, when they have been known for so long; default: 3m with --liveness, else never' -x
complete -c holdfast -n '__holdfast_at \'batch run\'' -l pass-env -d 'Pass this environment variable to the program although Holdfast withholds it, such as HOLDFAST_STORE or PGPASSWORD; repeatable' -x
complete -c holdfast -n '__holdfast_at \'batch run\'' -l until-empty -d 'End when nothing is left that this worker could process'
complete -c holdfast -n '__holdfast_at \'batch run\'' -l log-format -d 'How the log on standard error is written; default: the configuration\'s, else text' -x -a 'text json'
complete -c holdfast -n '__holdfast_at \'batch recover\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'batch recover\'' -l liveness -d 'The Redis of the services that share the tables of batches, such as redis://HOST:PORT' -x
complete -c holdfast -n '__holdfast_at \'batch recover\'' -l queue-unclaimed-after -d 'Queue rows again that workers of another make left in progress, when they have been known for so long; default: 3m with --liveness, else never' -x
complete -c holdfast -n '__holdfast_at \'batch list\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'batch list\'' -l app -d 'Of this application' -x
complete -c holdfast -n '__holdfast_at \'batch list\'' -l op -d 'Of this operation' -x
complete -c holdfast -n '__holdfast_at \'batch list\'' -l status -d 'With this status; repeatable' -x -a 'queued inprog success failed aborted wait'
complete -c holdfast -n '__holdfast_at \'batch list\'' -l limit -d 'At most so many; default: 50' -x
complete -c holdfast -n '__holdfast_at \'serve\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'serve\'' -l store -d 'A store to serve; repeatable' -x
complete -c holdfast -n '__holdfast_at \'serve\'' -l listen -d 'Where; default: localhost:8420' -x
complete -c holdfast -n '__holdfast_at \'serve\'' -l no-auth -d 'Disable authentication (loopback only)'
complete -c holdfast -n '__holdfast_at \'serve\'' -l read-only -d 'Read-only mode: all callers have the rights of a viewer'
complete -c holdfast -n '__holdfast_at \'serve\'' -l users -d 'Who may log in; see \'holdfast user add\'' -r -F
complete -c holdfast -n '__holdfast_at \'serve\'' -l tokens -d 'Tokens of programs; default: \'tokens\' in the folder of --state' -r -F
complete -c holdfast -n '__holdfast_at \'serve\'' -l cert -d 'Certificate for TLS (PEM)' -r -F
complete -c holdfast -n '__holdfast_at \'serve\'' -l key -d 'Its key (PEM)' -r -F
complete -c holdfast -n '__holdfast_at \'serve\'' -l behind-proxy -d 'A proxy does TLS and says who calls'
complete -c holdfast -n '__holdfast_at \'serve\'' -l trusted-proxy -d 'Address or network of that proxy; repeatable; default on loopback: this machine' -x
complete -c holdfast -n '__holdfast_at \'serve\'' -l allow-host -d 'A name by which the server may be called; repeatable' -x
complete -c holdfast -n '__holdfast_at \'serve\'' -l max-connections -d 'Maximum connections (default: 4096, or what the limit of open files allows)' -x
complete -c holdfast -n '__holdfast_at \'serve\'' -l max-connections-per-address -d 'Maximum unauthenticated connections of one address (default: 64)' -x
complete -c holdfast -n '__holdfast_at \'serve\'' -l state -d 'Folder for tokens and audit log; default: beside the store' -x
complete -c holdfast -n '__holdfast_at \'serve\'' -l output -d 'Where output files of batches are, such as dir:FOLDER; default: beside the store' -x
complete -c holdfast -n '__holdfast_at \'serve\'' -l broker -d 'Where messages of transactions and results are: sqlite:FILE or amqp://USER@HOST/VHOST; default: in the store\'s file' -x
complete -c holdfast -n '__holdfast_at \'serve\'' -l blobs -d 'Where large requests and answers are kept: dir:FOLDER, azure://ACCOUNT/CONTAINER or s3://BUCKET' -x
complete -c holdfast -n '__holdfast_at \'serve\'' -l blob-mode -d 'Mode of the files of blobs in a folder: 0600, or 0640 so that the group of the folder can read them; default: the configuration\'s, else 0600' -x -a '0600 0640'
complete -c holdfast -n '__holdfast_at \'serve\'' -l payload-key -d 'File with a key that requests and answers are encrypted with; the first one is used, the others are for what is there; repeatable' -x
complete -c holdfast -n '__holdfast_at \'serve\'' -l sign-payloads -d 'Sign requests and answers with the key instead of encrypting them: they can be read in the store, but not forged'
complete -c holdfast -n '__holdfast_at \'serve\'' -l accept-plain -d 'Accept requests and answers that are neither encrypted nor signed although there is a key; for those from before it was set'
complete -c holdfast -n '__holdfast_at \'serve\'' -l refuse-unbound -d 'Refuse what earlier versions encrypted, which is not bound to its task'
complete -c holdfast -n '__holdfast_at \'serve\'' -l require-sealed -d 'Hold tasks of this kind whose payload is neither encrypted nor signed; KIND* for all that begin so; repeatable' -x
complete -c holdfast -n '__holdfast_at \'serve\'' -l otlp -d 'Send spans of attempts to this collector for OpenTelemetry, such as http://127.0.0.1:4318; default: OTEL_EXPORTER_OTLP_ENDPOINT, else the configuration\'s, else none' -x
complete -c holdfast -n '__holdfast_at \'serve\'' -l log-format -d 'How the log on standard error is written; default: the configuration\'s, else text' -x -a 'text json'
complete -c holdfast -n '__holdfast_at \'user\'' -a add -d 'Add a user or set a new password, which is read from standard input'
complete -c holdfast -n '__holdfast_at \'user\'' -a list -d 'List who may log in'
complete -c holdfast -n '__holdfast_at \'user\'' -a remove -d 'Remove a user'
complete -c holdfast -n '__holdfast_at \'user\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'user add\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'user add\'' -l users -d 'The file that \'holdfast serve --users\' reads' -r -F
complete -c holdfast -n '__holdfast_at \'user add\'' -l role -d 'What they may do; default: viewer' -x -a 'viewer operator admin'
complete -c holdfast -n '__holdfast_at \'user list\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'user list\'' -l users -d 'The file that \'holdfast serve --users\' reads' -r -F
complete -c holdfast -n '__holdfast_at \'user remove\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'user remove\'' -l users -d 'The file that \'holdfast serve --users\' reads' -r -F
complete -c holdfast -n '__holdfast_at \'token\'' -a add -d 'Make a token and print its secret, once'
complete -c holdfast -n '__holdfast_at \'token\'' -a list -d 'List tokens, without their secrets'
complete -c holdfast -n '__holdfast_at \'token\'' -a revoke -d 'Make a token invalid, at once'
complete -c holdfast -n '__holdfast_at \'token\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'token add\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'token add\'' -l state -d 'The folder that \'holdfast serve\' uses; default: beside the store' -x
complete -c holdfast -n '__holdfast_at \'token add\'' -l tokens -d 'The file that \'holdfast serve --tokens\' reads' -r -F
complete -c holdfast -n '__holdfast_at \'token add\'' -l scope -d 'What it may be used for; repeatable' -x -a 'metrics enqueue work viewer operator admin'
complete -c holdfast -n '__holdfast_at \'token add\'' -l queue -d 'A queue for enqueue and work, or PREFIX*; repeatable; default: all' -x
complete -c holdfast -n '__holdfast_at \'token add\'' -l kind -d 'A kind for enqueue and work, or PREFIX*; repeatable; default: all' -x
complete -c holdfast -n '__holdfast_at \'token add\'' -l quota-per-minute -d 'Maximum tasks that it may enqueue in a minute; default: no quota' -x
complete -c holdfast -n '__holdfast_at \'token add\'' -l quota-waiting -d 'Maximum tasks that may wait in its queues; default: no quota' -x
complete -c holdfast -n '__holdfast_at \'token add\'' -l expires -d 'How long it is valid, such as 90d; default: until it is revoked' -x
complete -c holdfast -n '__holdfast_at \'token list\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'token list\'' -l state -d 'The folder that \'holdfast serve\' uses; default: beside the store' -x
complete -c holdfast -n '__holdfast_at \'token list\'' -l tokens -d 'The file that \'holdfast serve --tokens\' reads' -r -F
complete -c holdfast -n '__holdfast_at \'token revoke\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'token revoke\'' -l state -d 'The folder that \'holdfast serve\' uses; default: beside the store' -x
complete -c holdfast -n '__holdfast_at \'token revoke\'' -l tokens -d 'The file that \'holdfast serve --tokens\' reads' -r -F
complete -c holdfast -n '__holdfast_at \'top\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'top\'' -l interval -d 'How often it looks, such as 5s; default: 1s' -x
complete -c holdfast -n '__holdfast_at \'top\'' -l once -d 'Look once, print it and end'
complete -c holdfast -n '__holdfast_at \'config\'' -a check -d 'Check a configuration file and print what is in force'
complete -c holdfast -n '__holdfast_at \'config\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'config check\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'doctor\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'doctor\'' -l full -d 'Check every page and index, however long it takes'
complete -c holdfast -n '__holdfast_at \'doctor\'' -l accept-loss -d 'Go on without the commits that cannot be read any more'
complete -c holdfast -n '__holdfast_at \'migrate\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'migrate\'' -l print -d 'Print the statements for an empty database instead of running them'
complete -c holdfast -n '__holdfast_at \'move\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'move\'' -l from -d 'The store as it is' -x
complete -c holdfast -n '__holdfast_at \'move\'' -l to -d 'Where it is to be' -x
complete -c holdfast -n '__holdfast_at \'move\'' -l finished -d 'Completed and cancelled tasks, too'
complete -c holdfast -n '__holdfast_at \'move\'' -l patience -d 'How long to wait for running tasks to end (default 60s)' -x
complete -c holdfast -n '__holdfast_at \'backup\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'backup\'' -l force -d 'Overwrite the file if it is there'
complete -c holdfast -n '__holdfast_at \'restore\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'restore\'' -l force -d 'Replace a store that can be used, and keep it'
complete -c holdfast -n '__holdfast_at \'demo\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'demo\'' -l seconds -d 'How long, about' -x
complete -c holdfast -n '__holdfast_at \'demo\'' -l workers -d 'Worker processes' -x
complete -c holdfast -n '__holdfast_at \'demo\'' -l seed -d 'Repeat the course of kills of an earlier run' -x
complete -c holdfast -n '__holdfast_at \'demo\'' -l keep -d 'Use this folder and keep it' -x
complete -c holdfast -n '__holdfast_at \'version\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'help\'' -l help -d 'Print this help message and exit'
complete -c holdfast -n '__holdfast_at \'completion\'' -a bash
complete -c holdfast -n '__holdfast_at \'completion\'' -a zsh
complete -c holdfast -n '__holdfast_at \'completion\'' -a fish
complete -c holdfast -n '__holdfast_at \'completion\'' -l help -d 'Print this help message and exit'
