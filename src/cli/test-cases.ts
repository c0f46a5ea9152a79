import { type Input, type Module, type Output, PtliteError, Tensor } from '../index.js'

const INPUTS = 'get_all_bundled_inputs'
const OUTPUTS = 'get_all_bundled_outputs'

/** Differences that rounding makes, of a value and beside it; one of integers makes a step of a quantized layer. */
const RELATIVE = 1e-2
const ABSOLUTE = 1e-3

/** Runs the test cases that are bundled with a model, whose results are known. Returns how many; throws INVALID_FILE where one fails. */
export function runTestCases(module: Module): number {
  let count = 0
  for (const method of module.methods.filter((name) => name.startsWith(OUTPUTS))) {
    const suffix = method.slice(OUTPUTS.length)
    const name = suffix === '' ? 'forward' : suffix.replace(/^_for_/, '')
    const cases = module.call(INPUTS + suffix) as Input[][]
    const expected = module.call(method) as Output[][]
    cases.forEach((args, i) => {
      const found = leavesOf(module.call(name, args))
      const wanted = expected[i]!
      const at = found.length === wanted.length ? wanted.findIndex((value, k) => !isNear(found[k]!, value)) : 0
      if (at >= 0) throw new PtliteError('INVALID_FILE', `test case ${i} of ${name}(): result ${at} differs from the one in the file`)
      count++
    })
  }
  return count
}

function leavesOf(value: Output): Output[] {
  if (Array.isArray(value)) return value.flatMap(leavesOf)
  return value instanceof Map ? [...value.values()].flatMap((item) => leavesOf(item as Output)) : [value]
}

function isNear(found: Output, wanted: Output): boolean {
  if (!(found instanceof Tensor && wanted instanceof Tensor))
    return found === wanted || Math.abs(Number(found) - Number(wanted)) <= ABSOLUTE
  if (found.dtype !== wanted.dtype || found.shape.join() !== wanted.shape.join()) return false
  const [a, b] = [found, wanted].map((tensor) => Array.from(tensor.to('float64').data() as Float64Array)) as [number[], number[]]
  return a.every((x, i) => Object.is(x, b[i]) || Math.abs(x - b[i]!) <= ABSOLUTE + RELATIVE * Math.abs(b[i]!))
}
