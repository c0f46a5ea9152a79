import { ScriptObject } from '../../runtime/tensor/value.js'
import type { OpenedFile } from '../containers/opened-file.js'
import type { ZipArchive } from '../containers/zip/archive.js'
import type { ValueBudget } from '../containers/value-budget.js'
import { extraFilesOf } from '../reading/archive.js'
import type { ParsedProgram, Reading } from '../reading/parsed.js'
import { guarded, damaged } from '../../program/file-error.js'
import { compileProgram, type CompiledProgram } from './program.js'
import { type ProgramRecord, programRecords } from './program-records.js'
import { readProgram } from './read-program.js'
import type { GraphSignature } from './signature.js'
import { NodeTraces } from './stack-traces.js'
import { withoutSubclasses } from './subclasses.js'
import { CONSTANTS, type Payload, readPayloads, StoredTensors, WEIGHTS } from './weights.js'

const CLASS_NAME = '__torch__.ExportedProgram'
/** The instructions that programs are translated to are those of this bytecode version. */
const BYTECODE = 8

/**
 * Reads an archive of torch.export (`.pt2`). Its programs become methods of an object that has their parameters, buffers and constants as attributes: by their
 * names, or behind the name of the program where there are several. Throws UNSUPPORTED_FILE for what another writer or version has put there.
 */
export function read({ zip: archive }: OpenedFile, { pool, budget }: Reading): ParsedProgram {
  const zip = archive!
  const records = programRecords(zip)
  const state = new Map<string, Payload>()
  const methods = records.map((record) => readMethod(zip, record, budget, records.length > 1 ? `${record.method}.` : '', state))
  const forward = methods.find(({ method }) => method === 'forward')?.compiled
  return {
    bytecodeVersion: BYTECODE,
    operatorVersion: Math.min(...methods.map(({ operatorVersion }) => operatorVersion)),
    functions: methods.map(({ compiled }) => compiled.code),
    extraFiles: extraFilesOf(zip),
    debug: new NodeTraces(
      new Map(methods.map(({ compiled, record }) => [compiled.code.name, { program: compiled, read: () => zip.contentOf(record) }])),
      () => budget,
    ),
    inputs: forward?.inputs,
    outputs: forward?.outputs,
    readState: () => {
      const stored = new StoredTensors(zip, pool, budget)
      const slots = [...state].map(([target, payload]) => guarded(`'${target}'`, () => stored.tensor(payload)))
      return { root: new ScriptObject(CLASS_NAME, [...state.keys()], slots), pending: [] }
    },
  }
}

interface Method {
  readonly record: string
  readonly method: string
  readonly operatorVersion: number
  readonly compiled: CompiledProgram
}

/** Reads a program, whose state goes to the end of `state` under names that begin with `prefix`. */
function readMethod(zip: ZipArchive, of: ProgramRecord, budget: ValueBudget, prefix: string, state: Map<string, Payload>): Method {
  const { record, name, method } = of
  const text = zip.contentOf(record)
  const { program: written, operatorVersion } = guarded(record, () => readProgram(text, budget))
  const payloads = new Map([
    ...readPayloads(zip, WEIGHTS, `${name}_weights_config.json`, budget),
    ...readPayloads(zip, CONSTANTS, `${name}_constants_config.json`, budget),
  ])
  const program = guarded(record, () => withoutSubclasses(written, payloads))
  const slots = new Map<string, number>()
  for (const [target, payload] of stateOf(program.signature, payloads)) {
    slots.set(target, state.size)
    state.set(prefix + target, payload)
  }
  return { record, method, operatorVersion, compiled: guarded(record, () => compileProgram(program, CLASS_NAME, method, slots)) }
}

/** What the signature names, in its order, and where it is stored. */
function stateOf(signature: GraphSignature, payloads: ReadonlyMap<string, Payload>): Map<string, Payload> {
  const state = new Map<string, Payload>()
  for (const spec of signature.inputs) {
    if (spec.kind !== 'state') continue
    const payload = payloads.get(spec.target)
    if (payload === undefined) throw damaged(`the archive has no values of '${spec.target}'`)
    state.set(spec.target, payload)
  }
  return state
}
