import type { Fault } from './judge.js'
import { type Program, sourceOf, type Spec } from './program.js'

/** What a failing program is, for people. */
export function report(program: Program, fault: Fault): string {
  const { family, seed, calls, classes, looks } = program
  const lines = [
    `${family}, seed ${seed}: ${fault.mode}, call ${fault.call}: ${fault.text}`,
    `npm run fuzz -- programs --family ${family} --seed ${seed} --count 1`,
    '',
    sourceOf(program),
    ...classes.flatMap(({ name, attributes }) => attributes.map((a) => `${name}.${a.name} = ${specText(a.value, program.storages)}`)),
    '',
    ...calls.flatMap(({ method, args, storages, after }, i) => [
      `${i}: ${method}(${args.map((arg) => specText(arg, storages)).join(', ')})`,
      ...after.map(({ kind, of, tensor }) => `   then the caller ${kind}s tensor ${tensor} of the ${of}s`),
    ]),
    `attributes are looked at behind ${looks === 'always' ? 'every' : 'the last'} call`,
  ]
  return `${lines.join('\n')}\n`
}

function specText(spec: Spec, storages: Program['storages']): string {
  const text = (value: Spec): string => specText(value, storages)
  if (spec === null || typeof spec === 'boolean') return String(spec)
  if ('int' in spec) return `${spec.int}`
  if ('float' in spec) return Number.isInteger(spec.float) ? `${spec.float}.` : `${spec.float}`
  if ('same' in spec) return `#${spec.same}`
  if ('earlier' in spec) return `tensor ${spec.tensor} of result ${spec.earlier}`
  if ('tuple' in spec) return `(${spec.tuple.map(text).join(', ')})`
  const id = spec.id === undefined ? '' : `#${spec.id} `
  if ('object' in spec) return `${id}${spec.object}`
  if ('list' in spec) return `${id}[${spec.list.map(text).join(', ')}]`
  if ('dict' in spec) return `${id}{${spec.dict.map(([key, value]) => `${key}: ${text(value)}`).join(', ')}}`
  const { dtype, data } = storages[spec.storage]!
  return `${id}${dtype}[${spec.shape.join()}; ${spec.strides.join()}]@${spec.storage}+${spec.offset} of (${data.join(' ')})`
}
