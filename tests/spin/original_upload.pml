/* The uploads of the original transactions: look whether the part is known, upload it, write down
 * where it is, acknowledge. Two consumers have the same message: one that was declared dead too
 * early, and its successor.
 *
 * As designed, every upload makes up a name, so the loser's blob is left behind with nothing that
 * points to it.
 *
 *   -DFIXED_NAMES  the name follows from transaction, series and ordinal, and the upload is
 *                  refused if it exists: the second one finds the first one's
 */
byte blobs = 0;
byte known = 0;             /* the blob that is written down; 0: none */
bool acknowledged = false;
byte finished = 0;
byte crashes = 0;

proctype Consumer() {
  byte mine;
again:
  if :: acknowledged -> goto out :: else fi;
  if :: known != 0 -> acknowledged = true; goto out :: else fi;
#ifdef FIXED_NAMES
  atomic { if :: blobs == 0 -> blobs = 1 :: else fi; mine = 1 };
#else
  atomic { blobs++; mine = blobs };
#endif
  if :: crashes < 1 -> atomic { crashes++; goto again } :: skip fi;   /* killed; delivered again */
  known = mine;
  if :: crashes < 1 -> atomic { crashes++; goto again } :: skip fi;
  acknowledged = true;
out: finished++
}

init {
  atomic { run Consumer(); run Consumer() };
  finished == 2 -> assert(known != 0); assert(blobs == 1)
}
