/** torch's storage classes, in the order of the c10::ScalarType numbers. */
const NAMES =
  'Byte Char Short Int Long Half Float Double ComplexHalf ComplexFloat ComplexDouble Bool QInt8 QUInt8 QInt32 BFloat16 QUInt4x2 QUInt2x4 ' +
  'Bits1x8 Bits2x4 Bits4x2 Bits8 Bits16 Float8_e5m2 Float8_e4m3fn Float8_e5m2fnuz Float8_e4m3fnuz UInt16 UInt32 UInt64'

/** The number of a storage class, `torch.FloatStorage`; -1 for other names. */
export function scalarTypeOf(name: string): number {
  return NAMES.split(' ').indexOf(/^torch\.(\w+)Storage$/.exec(name)?.[1] ?? '')
}

/** The storage class of a number, without its module. */
export function storageClassOf(scalarType: number): string {
  return `${NAMES.split(' ')[scalarType]}Storage`
}
