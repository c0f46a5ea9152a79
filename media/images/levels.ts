import { check, PtliteError } from '../../runtime/error.js'
import { numberText } from '../../runtime/tensor/kind-of.js'

/** One number for all planes, or one for each. */
export type PerPlane = number | readonly number[]

/** `planes` finite numbers. Throws INVALID_ARGUMENT otherwise. */
export function perPlane(value: PerPlane | undefined, planes: number, name: string, preset: number): readonly number[] {
  if (value === undefined) return Array.from({ length: planes }, () => preset)
  const numbers: readonly unknown[] = Array.isArray(value)
    ? Array.from(value as readonly unknown[])
    : Array.from({ length: planes }, () => value)
  check(numbers.length === planes, () => `expected ${name} to be one number or ${planes}, found ${numbers.length}`)
  return numbers.map((x) => {
    if (typeof x === 'number' && Number.isFinite(x)) return x
    throw new PtliteError('INVALID_ARGUMENT', `expected ${name} to be finite numbers, found ${numberText(x)}`)
  })
}

/** Numbers to divide by. */
export function deviations(value: PerPlane | undefined, planes: number): readonly number[] {
  const std = perPlane(value, planes, 'std', 1)
  check(!std.map(Math.fround).includes(0), () => 'expected std to be other than 0')
  return std
}

/** What each byte becomes, plane by plane, with the roundings of torchvision's ToTensor and Normalize: byte / 255, less mean, by std. */
export function levelsOf(mean: readonly number[], std: readonly number[]): readonly number[] {
  const { fround } = Math
  return mean.flatMap((m, p) => Array.from({ length: 256 }, (_, byte) => fround(fround(fround(byte / 255) - fround(m)) / fround(std[p]!))))
}
