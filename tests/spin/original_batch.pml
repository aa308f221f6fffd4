/* The batch rows of the original: claimed in a database, tracked in a cache beside it. Worker A may
 * die or pause; worker B is well and also recovers. The row must get done, once.
 *
 * As designed, the row is claimed first and tracked second, so a death in between leaves a row that
 * nobody looks for.
 *
 *   -DTRACK_FIRST  tracked before it is claimed: a worker that only paused loses its entry
 *   -DTTL          the tracking set times out
 *   -DRESTART      the cache restarts empty once
 *   -DFIXED        the lease is in the row; taking back and completing compare the token
 *   -DONCE         promise that it is done once, instead of done at all
 */
mtype = { queued, in_progress, done };
mtype row = queued;
byte token = 0;
bool lapsed = false;        /* the lease in the row is past its time (FIXED) */

bool tracked = false;       /* the row is in A's set in the cache */
bool beating = true;        /* A's heartbeat is in the cache */
bool registered = true;     /* A is in the registry, which recovery walks */

bool a_dead = false;
byte completions = 0;

active proctype A() {
  byte my = 0;
#ifdef TRACK_FIRST
  atomic { row == queued -> tracked = true }
#endif
  if
  :: atomic { row == queued -> row = in_progress; token++; my = token; lapsed = false }
  :: else -> goto out
  fi;
  if :: atomic { true -> a_dead = true; goto out } :: skip fi;    /* claimed, not tracked */
#ifndef TRACK_FIRST
  tracked = true;
#endif
  if :: atomic { true -> a_dead = true; goto out } :: skip fi;    /* while processing */
#ifdef FIXED
  atomic { if :: row == in_progress && token == my -> row = done; completions++ :: else fi };
#else
  atomic { row = done; completions++ };
#endif
  tracked = false;
out: a_dead = true
}

active proctype Heartbeat() {
  do
  :: atomic { !a_dead -> registered = true; if :: beating = true :: beating = false fi }
  :: atomic { a_dead -> beating = false; break }
  od;
  do
  :: atomic { row == in_progress -> lapsed = true }
  :: row == done -> break
  od
}

#ifdef TTL
active proctype Expiry() {
  do
  :: atomic { !beating && tracked -> tracked = false }
  :: row == done -> break
  od
}
#endif

#ifdef RESTART
active proctype Restart() { atomic { tracked = false; beating = false; registered = false } }
#endif

active proctype B() {
  bool found;
  byte my;
  do
#ifdef FIXED
  :: atomic { row == in_progress && lapsed -> row = queued; token++; lapsed = false }
#else
  :: atomic { registered && !beating -> found = tracked };
     if :: found -> atomic { if :: row == in_progress -> row = queued :: else fi } :: else fi;
     tracked = false;
     registered = false
#endif
  :: atomic { row == queued -> row = in_progress; token++; my = token; lapsed = false };
#ifdef FIXED
     atomic { if :: row == in_progress && token == my -> row = done; completions++ :: else fi }
#else
     atomic { row = done; completions++ }
#endif
  :: row == done -> break
  od
}

#ifdef ONCE
active proctype Watcher() { atomic { completions > 1 -> assert(completions <= 1) } }
#endif
#ifdef LTL
ltl gets_done { <> (row == done) }
#endif
