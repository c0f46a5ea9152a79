import { readFileSync } from 'node:fs'
import { inputOf } from '../../pt2/fixtures.js'
import { fixturePath, PROGRAMS, readCalls } from '../../pte/fixtures.js'
import { runModule } from '../files/run-module.js'
import type { Base, Target } from '../harness/target.js'
import { mutateBytes } from '../mutate/bytes.js'
import { mutateWords } from '../mutate/words.js'

/** Programs of ExecuTorch: headers and segments, values and instructions, and the graphs of delegates in them. */
export function target(): Target {
  const bases = PROGRAMS.map((name) => ({ name, bytes: readFileSync(fixturePath(`${name}.pte`)) }))
  const calls = ({ name }: Base) => readCalls(name).calls.map(({ method, args }) => ({ method, args: () => args.map(inputOf) }))
  return {
    bases,
    mutate: (bytes, random) => (random.once(6) ? mutateBytes(bytes, random, random.pick(bases).bytes) : mutateWords(bytes, random)),
    run: (bytes, base, choice) => runModule(bytes, base, choice, calls(base)),
  }
}
