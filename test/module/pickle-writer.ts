/** Writes pickles opcode by opcode, for files that PyTorch would not write. */
export const p = {
  proto: [0x80, 2],
  stop: [0x2e],
  mark: [0x28],
  none: [0x4e],
  true: [0x88],
  emptyTuple: [0x29],
  emptyList: [0x5d],
  emptyDict: [0x7d],
  appends: [0x65],
  setItems: [0x75],
  tuple: [0x74],
  tuple1: [0x85],
  tuple2: [0x86],
  list: [0x6c],
  dict: [0x64],
  reduce: [0x52],
  newObject: [0x81],
  build: [0x62],
  persistent: [0x51],
  int: (value: number): number[] => [0x4a, ...littleEndian(value, 4)],
  long: (value: bigint, length = 8): number[] => [
    0x8a,
    length,
    ...Array.from({ length }, (_, i) => Number((value >> BigInt(8 * i)) & 255n)),
  ],
  float: (value: number): number[] => [0x47, ...new Uint8Array(new Float64Array([value]).buffer).reverse()],
  text: (value: string): number[] => [0x58, ...littleEndian(Buffer.byteLength(value), 4), ...Buffer.from(value)],
  global: (module: string, name: string): number[] => [0x63, ...Buffer.from(`${module}\n${name}\n`)],
  put: (index: number): number[] => [0x71, index],
  get: (index: number): number[] => [0x68, index],
  longPut: (index: number): number[] => [0x72, ...littleEndian(index, 4)],
  longGet: (index: number): number[] => [0x6a, ...littleEndian(index, 4)],
}

export function pickle(...parts: readonly (readonly number[])[]): Buffer {
  return Buffer.from([...p.proto, ...parts.flat(), ...p.stop])
}

export function littleEndian(value: number, bytes: number): number[] {
  return Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** i) & 255)
}
