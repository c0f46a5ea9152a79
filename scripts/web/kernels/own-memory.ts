/** How the import of memory is written that has a bound and is shared, behind its module's name. */
const IMPORT = Buffer.from('\x06memory\x02\x03', 'latin1')
const WITHIN = 1 << 14
const UNSHARED = 1

/**
 * The linker makes code for threads alone with an import of shared memory. It is as good for memory of one thread, which is what most pages have: the files ask
 * for that, and the library changes it back where memory can be shared (runtime/native/wasm/threads/shared-import.ts).
 */
export function withOwnMemory(module: Uint8Array): Uint8Array {
  const changed = Buffer.from(module)
  const place = changed.subarray(0, WITHIN).indexOf(IMPORT)
  if (place < 0) throw new Error('the module imports no shared memory')
  changed[place + IMPORT.length - 1] = UNSHARED
  return changed
}
