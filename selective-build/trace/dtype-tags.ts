/** c10::ScalarType numbers by the names that PyTorch's selected-operators files use. */
const TAGS: ReadonlyMap<number, string> = new Map([
  [0, 'Byte'],
  [1, 'Char'],
  [2, 'Short'],
  [3, 'Int'],
  [4, 'Long'],
  [5, 'Half'],
  [6, 'Float'],
  [7, 'Double'],
  [11, 'Bool'],
  [12, 'QInt8'],
  [13, 'QUInt8'],
  [14, 'QInt32'],
  [15, 'BFloat16'],
])

/** `Float` for 6; undefined for what kernels have no dtype for. */
export function dtypeTag(code: number): string | undefined {
  return TAGS.get(code)
}

/** The number of a name as PyTorch spells it, in any case (`Float`, `float`). */
export function dtypeCode(tag: string): number | undefined {
  for (const [code, name] of TAGS) if (name.toLowerCase() === tag.toLowerCase()) return code
  return undefined
}
