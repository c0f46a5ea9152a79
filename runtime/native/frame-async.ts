import { nativeLaunchAsync } from './library.js'
import { fail } from './frame.js'
import { Status } from './generated/numbers.js'

/** Runs the kernel of a frame of `frameOf` on another native thread. Rejects with PtliteError on a non-zero status. */
export async function launchAsync(own: Uint8Array, name: string): Promise<void> {
  const status = await nativeLaunchAsync(own)
  if (status !== Status.OK) fail(name, status)
}
