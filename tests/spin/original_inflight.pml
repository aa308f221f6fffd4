/* The in-flight registry of the original HTTP client: a request is popped from a queue, kept in a
 * registry while it runs, and a collector puts stale ones back.
 *
 * As designed, the collector looks at the age and then removes the entry, and pushes it to the
 * queue afterwards: a death in between loses the request.
 *
 *   -DREMOVE_IN_SCRIPT  looking and removing are one step, pushing still is another: lost as well
 *   -DFIXED             all three are one step, and completion names its token
 *   -DNODUP             also promise at most one callback
 */
#define MAX_CRASHES 2
#define MAY_CRASH (crashes < MAX_CRASHES)

byte queue = 1;             /* requests waiting */
bool indexed = false;       /* in the registry, by age */
bool fresh = false;         /* ... and recently heard of */
bool stored = false;        /* its payload is in the registry */
byte in_memory = 0;         /* processes that have it in their hands */
byte callbacks = 0;
byte token = 0;
byte collector_lock = 0;
byte collections = 0;       /* bounds the model */
byte crashes = 0;

#ifdef FIXED
#define MINE (indexed && token == my)
#else
#define MINE (indexed)
#endif

proctype Processor() {
  byte my;
  do
  :: atomic { queue > 0 && !stored ->
       queue--; in_memory++; indexed = true; fresh = true; stored = true; token++; my = token }
     do
     :: atomic { if :: MINE -> fresh = true :: else fi }          /* heartbeat */
     :: break                                                     /* the response is there */
     :: atomic { MAY_CRASH -> crashes++; in_memory--; goto dead }
     od;
#ifdef FIXED
     atomic {
       if
       :: stored && token == my -> callbacks++; indexed = false; stored = false
       :: else
       fi;
       in_memory-- }
#else
     callbacks++;
     atomic { indexed = false; stored = false; in_memory-- }
#endif
  :: callbacks > 0 -> break
  od;
dead: skip
}

proctype Collector() {
  bool stale, taken;
  do
  :: atomic { collector_lock == 0 && indexed && !fresh && collections < 3 ->
       collector_lock = _pid; collections++ }
#ifdef FIXED
     atomic {
       if
       :: indexed && !fresh -> indexed = false; stored = false; token++; queue++
       :: else
       fi };
#else
#ifdef REMOVE_IN_SCRIPT
     atomic {
       stale = indexed && !fresh; taken = stale && stored;
       if :: stale -> indexed = false; stored = false :: else fi;
       if :: taken -> in_memory++ :: else fi };
#else
     atomic { stale = (indexed && !fresh); taken = false };
     if
     :: stale -> atomic {
          indexed = false; taken = stored; stored = false;
          if :: taken -> in_memory++ :: else fi }
     :: else
     fi;
#endif
     if
     :: stale && taken ->
        if
        :: atomic { queue++; in_memory-- }
        :: atomic { MAY_CRASH -> crashes++; in_memory--; goto dead }
        fi
     :: else
     fi;
#endif
     atomic { if :: collector_lock == _pid -> collector_lock = 0 :: else fi }
  :: callbacks > 0 -> break
  od;
dead: skip
}

active proctype Clock() {
  do
  :: atomic { fresh -> fresh = false }
  :: atomic { collector_lock != 0 -> collector_lock = 0 }         /* the lock times out too */
  :: callbacks > 0 -> break
  od
}

#define LOST (callbacks == 0 && queue == 0 && !stored && in_memory == 0)

active proctype Watcher() {
  do
  :: atomic { LOST -> assert(!LOST) }
#ifdef NODUP
  :: atomic { callbacks > 1 -> assert(callbacks <= 1) }
#endif
  :: callbacks > 1 -> break
  od
}

init { atomic { run Processor(); run Processor(); run Collector(); run Collector() } }
