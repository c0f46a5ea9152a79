const float = new Float32Array(1)
const bits = new Uint32Array(float.buffer)

/** The bits of the nearest float16 or bfloat16, ties to even. */
export function toBits(value: number, bfloat: boolean): number {
  float[0] = value
  const x = bits[0]!
  if (bfloat) return Number.isNaN(value) ? 0x7fc0 : ((x + 0x7fff + ((x >>> 16) & 1)) >>> 16) & 0xffff
  const sign = (x >>> 16) & 0x8000
  const magnitude = Math.abs(value)
  if (Number.isNaN(value)) return sign | 0x7e00
  if (magnitude >= 65520) return sign | 0x7c00
  if (magnitude < 2 ** -14) return sign | roundEven(magnitude * 2 ** 24)
  const exponent = Math.floor(Math.log2(magnitude))
  // a mantissa that rounds up to 2 carries into the exponent by itself
  return sign | (((exponent + 15) << 10) + roundEven((magnitude / 2 ** exponent - 1) * 1024))
}

function roundEven(x: number): number {
  const down = Math.floor(x)
  const rest = x - down
  return rest > 0.5 || (rest === 0.5 && down % 2 === 1) ? down + 1 : down
}
