import { readFileSync } from 'node:fs'
import t from 'tap'
import { openProgram, readProgram } from '../../formats/read.js'
import { allSteps } from '../../formats/steps.js'
import { withExplicitCounts } from '../../formats/writing/explicit-counts.js'
import { Opcode } from '../../program/generated/opcodes.js'
import type { FunctionCode } from '../../program/code.js'
import { loadModule, memoryStats } from '../../src/index.js'
import { inputOf } from '../pt2/fixtures.js'
import { fixturePath, readCalls } from './fixtures.js'

/** Fixtures in which an operator gives another result than the file says: the number at a byte is another one. */
const CASES = [
  {
    name: 'padding of a convolution',
    fixture: 'net',
    change: [4552, 1, 50_069_505],
    message: /aten::convolution\.out asks for 6408897024 bytes; the file says \[1, 8, 4, 4\]/,
  },
  {
    name: 'a size that the program computes with',
    fixture: 'recurrent',
    change: [15_648, 4, 134_217_732],
    message: /aten::full\.out asks for 1073741856 bytes; the file says at most \[1, 8, 4\]/,
  },
  {
    name: 'a bound that is too small',
    fixture: 'recurrent',
    change: [7336, 4, 0],
    message: /aten::sigmoid\.out gives \[1, 2, 4\]; the file says at most \[1, 8, 0\]/,
  },
  {
    name: 'sizes in another order',
    fixture: 'methods',
    change: [2640, 3, 2],
    message: /aten::permute_copy\.out gives \[3, 2\]; the file says \[2, 3\]/,
  },
  {
    // values within a delegate have no sizes that hold, but those that they say are what memory is measured by
    name: 'an image that a delegate makes larger',
    fixture: 'resize_xnnpack',
    change: [2876, 8, 50_000_000],
    message: /XnnpackBackend asks for 3200000000 bytes; the file says less/,
  },
  {
    name: 'a result of a delegate',
    fixture: 'arrange_xnnpack',
    change: [956, 2, 1],
    message: /XnnpackBackend gives \[2, 5, 5\]; the file says \[1, 5, 5\]/,
  },
] as const

for (const { name, fixture, change, message } of CASES) {
  const [at, was, value] = change
  const changed = (): Uint8Array => {
    const bytes = readFileSync(fixturePath(`${fixture}.pte`))
    t.equal(bytes.readUInt32LE(at), was, `what the fixture has at ${at}`)
    bytes.writeUInt32LE(value, at)
    return bytes
  }
  const calls = readCalls(fixture).calls
  const refused = { code: 'INVALID_FILE', message }

  for (const compile of ['off', 'eager'] as const) {
    t.test(`${name}, compile: '${compile}'`, async (t) => {
      const module = await loadModule(changed(), { compile })
      const before = memoryStats().live
      const attempt = (): void => {
        for (const { method, args } of calls) module.call(method, args.map(inputOf))
      }
      // once more: what was refused is not compiled
      t.throws(attempt, refused)
      t.throws(attempt, refused)
      t.ok(memoryStats().peak < before + 2 ** 28, 'no memory is taken for it')
      module.dispose()
    })
  }

  t.test(`${name}, off the event loop`, async (t) => {
    const module = await loadModule(changed())
    await t.rejects(async () => {
      for (const { method, args } of calls) await module.run(method, args.map(inputOf))
    }, refused)
    module.dispose()
  })
}

t.test('a call that is refused leaves no bounds behind', async (t) => {
  const bytes = readFileSync(fixturePath('net.pte'))
  bytes.writeUInt32LE(50_069_505, 4552)
  const [damaged, sound] = [await loadModule(bytes, { compile: 'off' }), await loadModule(fixturePath('net.pte'), { compile: 'off' })]
  const [call] = readCalls('net').calls
  t.throws(() => damaged.forward(...call!.args.map(inputOf)), { code: 'INVALID_FILE' })
  t.doesNotThrow(() => sound.forward(...call!.args.map(inputOf)))
  for (const module of [damaged, sound]) module.dispose()
})

t.test('mobile modules say nothing of them', (t) => {
  const hooks = {
    runSetState: () => {
      throw new Error('no program has __setstate__')
    },
  }
  const program = allSteps(readProgram(openProgram(fixturePath('net.pte')), hooks, {}))
  const namesOf = ({ code, operators }: FunctionCode): string[] =>
    [...code].flatMap((opcode, at) => {
      if (at % 3 !== 0 || (opcode !== Opcode.OP && opcode !== Opcode.OPN)) return []
      const { name, overload, argCount } = operators[code[at + 1]!]!
      return [`${name}.${overload} ${argCount}`]
    })
  for (const [fn, written] of withExplicitCounts(program)) {
    t.ok(fn.operators.some(({ bounds }) => bounds !== undefined))
    t.notOk(written.operators.some((operator) => 'bounds' in operator))
    t.equal(
      new Set(written.operators.map(({ name, overload, argCount }) => `${name}.${overload} ${argCount}`)).size,
      written.operators.length,
    )
    t.strictSame(namesOf(written), namesOf(fn))
  }
  program.close()
  t.end()
})
