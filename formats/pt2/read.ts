import { ScriptObject } from '../../runtime/tensor/value.js'
import type { Range } from './checks.js'
import type { ValueBudget } from '../containers/value-budget.js'
import type { OpenedFile } from '../containers/opened-file.js'
import type { ZipArchive } from '../containers/zip/archive.js'
import { checkByteOrder, extraFilesOf, shortText } from '../reading/archive.js'
import type { ParsedProgram, Reading } from '../reading/parsed.js'
import { guarded, unsupported, damaged } from '../../program/file-error.js'
import { Deferred, type Json, JsonReader, type JsonObject } from './json.js'
import { countOf, integerOf, listOf, objectOf, textOf } from './json-values.js'
import { parseSympy } from './parse-expression.js'
import { compileProgram, type ExportedProgram } from './program.js'
import { DEFERRED_FIELDS, readGraph } from './read-graph.js'
import { type GraphSignature, readSignature } from './signature.js'
import { NodeTraces } from './stack-traces.js'
import { type MetaOf, readTensorMeta, type TensorMeta } from './tensor-meta.js'
import { readCallTrees, readTupleFields } from './tree.js'
import { CONSTANTS, type Payload, readPayloads, StoredTensors, WEIGHTS } from './weights.js'

const SCHEMA = { first: 7, last: 8 }
const ARCHIVE_VERSION = '0'
const MODELS = 'models/'
const CLASS_NAME = '__torch__.ExportedProgram'
const METHOD = 'forward'
/** The operator version of PyTorch 1.13 and later, where a program does not say. */
const OPERATORS = 10
/** The instructions that programs are translated to are those of this bytecode version. */
const BYTECODE = 8

const isProgram = (name: string): boolean => name.startsWith(MODELS) && name.endsWith('.json')

/**
 * Reads an archive of torch.export (`.pt2`): one program, which becomes the method `forward` of an object that has its parameters, buffers and constants as
 * attributes. Throws UNSUPPORTED_FILE for what another writer or version has put there.
 */
export function read({ zip: archive }: OpenedFile, { pool, budget }: Reading): ParsedProgram {
  const zip = archive!
  const record = programRecord(zip)
  const name = record.slice(MODELS.length, -'.json'.length)
  const text = zip.contentOf(record)
  const { program, operatorVersion } = guarded(record, () => readProgram(text, budget))
  const payloads = new Map([
    ...readPayloads(zip, WEIGHTS, `${name}_weights_config.json`, budget),
    ...readPayloads(zip, CONSTANTS, `${name}_constants_config.json`, budget),
  ])
  const state = stateOf(program.signature, payloads)
  const slots = new Map([...state.keys()].map((target, slot) => [target, slot]))
  const compiled = guarded(record, () => compileProgram(program, CLASS_NAME, METHOD, slots))
  return {
    bytecodeVersion: BYTECODE,
    operatorVersion,
    functions: [compiled.code],
    extraFiles: extraFilesOf(zip),
    debug: new NodeTraces(
      compiled,
      () => zip.contentOf(record),
      () => budget,
    ),
    inputs: compiled.inputs,
    outputs: compiled.outputs,
    readState: () => {
      const stored = new StoredTensors(zip, pool)
      const slots = [...state].map(([target, payload]) => guarded(`'${target}'`, () => stored.tensor(payload)))
      return { root: new ScriptObject(CLASS_NAME, [...state.keys()], slots), pending: [] }
    },
  }
}

/** The record of the program. Throws UNSUPPORTED_FILE where there is none, or more than one. */
function programRecord(zip: ZipArchive): string {
  if (zip.holds('serialized_exported_program.json'))
    throw unsupported(
      'this was written by PyTorch 2.7 or older; load it with torch.export.load there, and save it with PyTorch 2.8 or later',
    )
  const version = zip.holds('archive_version') ? shortText(zip, 'archive_version') : ARCHIVE_VERSION
  if (version !== ARCHIVE_VERSION)
    throw unsupported(`expected version ${ARCHIVE_VERSION} of the archive, found '${version}': it is newer than this runtime`)
  checkByteOrder(zip)
  const names = zip.recordNames()
  const programs = names.filter(isProgram)
  const [first] = programs
  if (first === undefined) {
    const isCompiled = names.some((name) => name.startsWith('data/aotinductor/'))
    throw unsupported(
      isCompiled
        ? 'this is machine code of AOTInductor without its program; save the program with torch.export.save'
        : 'the archive holds no program (models/*.json); save one with torch.export.save',
    )
  }
  const record = programs.length === 1 ? first : programs.find((name) => name === `${MODELS}model.json`)
  if (record === undefined)
    throw unsupported(`the archive holds ${programs.length} programs (${programs.slice(0, 10).join(', ')}); save each to a file of its own`)
  const name = record.slice(MODELS.length, -'.json'.length)
  for (const folder of [WEIGHTS, CONSTANTS])
    if (zip.holds(`${folder}${name}.pt`))
      throw unsupported(
        'its weights are a pickle of an older PyTorch; load it with torch.export.load and save it with PyTorch 2.9 or later',
      )
  return record
}

/** Fields of the outermost object that are read after the version: that says whether they can be. */
const PARTS: ReadonlySet<string> = new Set(['graph_module'])

function readProgram(text: Buffer, budget: ValueBudget): { program: ExportedProgram; operatorVersion: number } {
  const reader = new JsonReader(text, budget)
  const fields = objectOf(reader.document(PARTS), 'a program')
  checkSchema(fields)
  const module = fields.get('graph_module')
  if (!(module instanceof Deferred)) throw damaged('the program has no graph')
  const parts = objectOf(reader.at(module, DEFERRED_FIELDS))
  const graph = readGraph(parts.get('graph'))
  const signature = readSignature(parts.get('signature'))
  const tupleFields = readTupleFields(parts.get('treespec_namedtuple_fields'))
  const symbols = graph.symbols === null ? new Map<string, Json>() : reader.at(graph.symbols)
  const metas = new Map<Deferred | null, MetaOf>([[null, () => undefined]])
  return {
    operatorVersion: operatorVersionOf(fields),
    program: {
      graph,
      signature,
      trees: readCallTrees(parts.get('module_call_graph'), tupleFields, budget),
      ranges: readRanges(fields.get('range_constraints')),
      guards: listOf(fields.get('guards_code') ?? []).map((guard) => textOf(guard)),
      metasOf({ tensors }) {
        const metaOf = metas.get(tensors) ?? readMetas(objectOf(reader.at(tensors!)))
        metas.set(tensors, metaOf)
        return metaOf
      },
      symbolOf(name) {
        const json = objectOf(symbols).get(name)
        const expression = json instanceof Map ? json.get('as_expr') : undefined
        return expression instanceof Map ? parseSympy(textOf(expression.get('expr_str'))) : null
      },
    },
  }
}

function readMetas(metas: JsonObject): MetaOf {
  const known = new Map<string, TensorMeta>()
  return (name) => {
    const json = metas.get(name)
    if (json === undefined) return undefined
    const meta = known.get(name) ?? guarded(`'${name}'`, () => readTensorMeta(json))
    known.set(name, meta)
    return meta
  }
}

function checkSchema(fields: JsonObject): void {
  const version = objectOf(fields.get('schema_version'), 'the version of the schema')
  const major = countOf(version.get('major'), 'a version')
  if (major >= SCHEMA.first && major <= SCHEMA.last) return
  const advice =
    major < SCHEMA.first
      ? 'export it again with PyTorch 2.8 to 2.13'
      : 'it is newer than this runtime: export it with PyTorch 2.13, or update ptlite'
  throw unsupported(`expected version ${SCHEMA.first} to ${SCHEMA.last} of the export schema, found ${major}; ${advice}`)
}

function operatorVersionOf(fields: JsonObject): number {
  const versions = fields.get('opset_version')
  const aten = versions instanceof Map ? versions.get('aten') : undefined
  return aten === undefined ? OPERATORS : Math.min(countOf(aten, 'a version of operators', 1, 1000), OPERATORS)
}

function readRanges(json: Json | undefined): Map<string, Range> {
  if (json === undefined || json === null) return new Map()
  // limits of 64 bits are none
  const limit = (value: Json | undefined): number | null =>
    value === undefined || value === null || typeof integerOf(value, 'a limit') === 'bigint' ? null : Number(value)
  return new Map(
    [...objectOf(json)].map(([symbol, item]) => {
      const range = objectOf(item)
      return [symbol, { min: limit(range.get('min_val')), max: limit(range.get('max_val')) }] as const
    }),
  )
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
