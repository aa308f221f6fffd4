/* The lease protocol: one task, its store, workers, recoverers and the clock.
 *
 * An atomic block is one transaction of a store. Between two blocks a process may be stopped for
 * any time (SIGSTOP, a slow disk, a suspended machine) or be gone for good (kill -9). So the checks
 * that matter stand inside the blocks, and this model shows that they are enough: each of the
 * following leaves one out, and the checker must then find a history that breaks a promise.
 *
 *   -DNOFENCE    a write is accepted from whoever comes while the task is running
 *   -DNOATOMIC   recovery looks first and takes the task back in a second step
 *   -DNOIDEM     a settlement whose reply was lost is not recognised when it is sent again
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef RECOVERERS
#define RECOVERERS 2
#endif
#ifndef MAX_ATTEMPTS
#define MAX_ATTEMPTS 3
#endif

mtype = { pending, running, completed, failed };

/* The task as the store has it. */
mtype state     = pending;
byte token      = 0;
byte attempt    = 0;
bool expired    = false;    /* the lease is past its time, or its worker was buried */
byte settled_by = 0;        /* token of the last settlement that was accepted */
byte effects    = 0;        /* effects recorded, all under one key */
byte follow_ups = 0;        /* tasks that came into being with the completion */
byte given_back = 0;

/* What only the checker can see. */
byte ends = 0;              /* transitions into a final state */
byte believes[WORKERS];     /* the token that each worker thinks it holds */
bool orphan = false;        /* the worker that holds the task is gone */

#define FINISHED (state == completed || state == failed)

#ifdef NOFENCE
#define HELD_WITH(t) (state == running)
#else
#define HELD_WITH(t) (state == running && token == t)
#endif

#ifdef NOIDEM
#define SETTLED_WITH(t) (false)
#else
#define SETTLED_WITH(t) (state != running && settled_by == t)
#endif

inline end_of_attempt() {
  if
  :: attempt < MAX_ATTEMPTS -> state = pending
  :: else -> state = failed; ends++
  fi
}

inline accept() {
  assert(believes[_pid] == token);           /* only the owner's writes are ever accepted */
  settled_by = my;
  if
  :: outcome == completed -> state = completed; ends++; follow_ups++; finished_it = true
  :: outcome == failed -> end_of_attempt()
  :: outcome == pending -> given_back++; attempt--; state = pending
  fi
}

active [WORKERS] proctype Worker() {
  byte my, renewals, sent;
  mtype outcome;
  bool lost, finished_it;
  do
  :: atomic { state == pending ->                              /* claim */
       state = running; token++; attempt++; expired = false;
       my = token; believes[_pid] = my }
     do
     :: renewals < 1 -> atomic {                               /* renew */
          renewals++;
          if
          :: HELD_WITH(my) -> expired = false
          :: else -> lost = true
          fi };
        if :: lost -> break :: else fi
     :: atomic {                                               /* record an effect once */
          if
          :: HELD_WITH(my) && effects == 0 -> effects++
          :: HELD_WITH(my) && effects > 0 -> skip
          :: else -> lost = true
          fi };
        break
     :: break
     od;
     atomic {
       if
       :: outcome = completed
       :: outcome = failed
       :: given_back == 0 -> outcome = pending
       fi };
     do
     :: !lost && sent < 2 -> atomic {                          /* settle; again if no reply came */
          sent++;
          if
          :: HELD_WITH(my) -> accept()
          :: !HELD_WITH(my) && SETTLED_WITH(my) -> skip
          :: else ->
             assert(!finished_it);            /* finished, and then told that it was not */
             lost = true
          fi }
     :: break                                                  /* done with it, or killed */
     od;
     atomic {
       if :: state == running && token == my -> orphan = true :: else fi;
       believes[_pid] = 0; my = 0; renewals = 0; sent = 0; outcome = pending;
       lost = false; finished_it = false }
  :: FINISHED -> break
  od
}

active [RECOVERERS] proctype Recoverer() {
  do
#ifdef NOATOMIC
  :: state == running && expired ->
     atomic { token++; orphan = false; end_of_attempt() }
#else
  :: atomic { state == running && expired ->                   /* reclaim */
       token++; orphan = false; end_of_attempt() }
#endif
  :: FINISHED -> break
  od
}

active proctype Clock() {
  do
  :: atomic { state == running && !expired -> expired = true }
  :: FINISHED -> break
  od
}

/* May look at any moment, and never holds anything up. Each line is a promise. */
active proctype Watcher() {
  do
  :: atomic { ends > 1 -> assert(ends <= 1) }
  :: atomic { effects > 1 -> assert(effects <= 1) }
  :: atomic { FINISHED != (ends == 1) -> assert(FINISHED == (ends == 1)) }
  :: atomic { (state == completed) != (follow_ups == 1) ->
       assert((state == completed) == (follow_ups == 1)) }
  :: atomic { attempt > MAX_ATTEMPTS -> assert(attempt <= MAX_ATTEMPTS) }
  :: FINISHED -> break
  od
}

#ifdef LTL
ltl terminates { <> FINISHED }
ltl orphan_recovered { [] (orphan -> <> !orphan) }
#endif
