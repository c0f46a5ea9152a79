/** Apps write no files, which the types of dicts are for. */
export function setDictType(): void {
  // nobody asks
}
