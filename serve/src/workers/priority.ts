import { getPriority, setPriority } from 'node:os'

const LEAST_PRIORITY = 19

/** Lowers the priority of this thread by `nice`: it leaves the processor to the thread that answers requests as soon as one comes. */
export function giveWay(nice: number): void {
  // on Linux, process 0 is this thread
  if (process.platform === 'linux' && nice > 0) setPriority(0, Math.min(LEAST_PRIORITY, getPriority(0) + nice))
}
