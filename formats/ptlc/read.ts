import { ByteSource } from '../containers/bytes.js'
import { damaged, guarded } from '../../program/file-error.js'
import { FlatReader, type FlatTable } from '../containers/flatbuffer/reader.js'
import { withLevels } from '../../runtime/native/level-limit.js'
import { Storage } from '../../runtime/tensor/storage.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { numberAt, numbersOf, ValueDecoder } from './decode.js'
import { hashAt, hashOf } from '../../runtime/tensor/hash.js'
import {
  ACTIVATION_NAMES,
  type AheadArgument,
  type AheadKernel,
  type AheadMethod,
  type AheadModule,
  type AheadWeights,
  CACHE_NAMES,
  type CacheName,
  WEIGHT_NAMES,
} from './module.js'
import { DATA_ALIGNMENT, PREAMBLE_BYTES, type Preamble, readPreamble } from './preamble.js'
import { type PlanSummary, readPlan, readSummary } from './read-plan.js'
import { readSparse } from './read-sparse.js'
import { describedStates, readStates } from './read-states.js'
import { CONSTANT_ROW, Field } from './schema.js'

/** The header of a .ptlc file, checked against its sum. */
export interface AheadHeader {
  readonly source: ByteSource
  readonly preamble: Preamble
  readonly root: FlatTable
  readonly about: AheadAbout
}

/** Everything but the plans. */
export interface AheadAbout extends Omit<AheadModule, 'plans' | 'states'> {
  readonly kernels: readonly AheadKernel[]
}

/** Reads what a file says about itself. Throws INVALID_FILE for a damaged one, UNSUPPORTED_FILE for another version of the format. */
export function read(source: ByteSource): AheadHeader {
  return guarded(source.label, () => {
    const preamble = readPreamble(source.read(0, Math.min(PREAMBLE_BYTES, source.size)), source.size, source.label, hashOf)
    // a copy, which nobody can change while it is read
    const header = Uint8Array.from(source.read(PREAMBLE_BYTES, preamble.headerBytes))
    if (hashOf(header) !== preamble.headerHash) throw damaged(`${source.label}: the checksum of its header is wrong; the file is damaged`)
    const root = new FlatReader(new ByteSource(source.label, header)).root()
    return { source, preamble, root, about: readAbout(root) }
  })
}

/**
 * The plans of a file over its data, which are used in place. Everything that could lead a kernel outside of its memory is checked.
 * `levels` are those whose kernels the plans are run with, 0 for all in use. Throws INVALID_FILE.
 */
export function readPlans(header: AheadHeader, levels = 0): AheadModule {
  // sizes of packed operands are the level's
  return withLevels(levels, () => checkedPlans(header))
}

function checkedPlans({ source, preamble, root, about }: AheadHeader): AheadModule {
  return guarded(source.label, () => {
    const { dataStart, dataBytes } = preamble
    const data = source.storageAt(dataStart, dataBytes, DATA_ALIGNMENT)
    if (hashAt(data.address, dataBytes) !== preamble.dataHash) {
      throw damaged(`${source.label}: the checksum of its data is wrong; the file is damaged`)
    }
    const rows = numbersOf(root, Field.module.constants)
    const constants = Array.from({ length: Math.floor(rows.length / CONSTANT_ROW) }, (_, i) => {
      const [start, bytes] = [rows[CONSTANT_ROW * i]!, rows[CONSTANT_ROW * i + 1]!]
      if (start < 0 || bytes < 0 || start % DATA_ALIGNMENT !== 0 || start + bytes > dataBytes) {
        throw damaged(`${source.label}: constant ${i} is outside of the data`)
      }
      return Storage.borrow(data.address + start, bytes, data)
    })
    const sparse = readSparse(root, constants, dataBytes)
    const states = readStates(root, constants, dataBytes)
    const held = states.map(({ tensor }) => tensor)
    const plans = root.tables(Field.module.plans).map((table) => readPlan(table, about.kernels, constants, sparse, held))
    for (const { method, example } of plans) {
      const known = about.methods.find((m) => m.name === method)
      if (known?.arguments.length !== example.length) throw damaged(`${source.label}: a plan of ${method}() has wrong arguments`)
    }
    return { ...about, plans, states }
  })
}

/** Tensors that calls change, without their memory. Throws INVALID_FILE. */
export function readStateSummaries({ source, root }: AheadHeader): { readonly name: string; readonly tensor: Tensor }[] {
  return guarded(source.label, () => describedStates(root).map(({ name, mark }) => ({ name, tensor: mark })))
}

/** What the plans of a file say of themselves, of whatever level and version they are. Their data are not looked at. Throws INVALID_FILE. */
export function readSummaries({ source, root, about }: AheadHeader): PlanSummary[] {
  return guarded(source.label, () => root.tables(Field.module.plans).map((table) => readSummary(table, about.kernels)))
}

function readAbout(root: FlatTable): AheadAbout {
  const at = Field.module
  const set = root.uint8(at.trainingSet)
  const layers = root.texts(at.trainingLayers)
  return {
    library: root.text(at.library),
    level: root.text(at.level),
    levels: root.texts(at.levels),
    original: root.text(at.original),
    originalBytes: numberAt(root, at.originalBytes),
    fingerprint: root.text(at.fingerprint),
    sha256: root.text(at.sha256),
    bytecodeVersion: root.int32(at.bytecodeVersion),
    operatorVersion: root.int32(at.operatorVersion),
    operators: root.texts(at.operators),
    kernels: root.tables(at.kernels).map((table) => {
      const of = Field.kernel
      return { name: table.text(of.name), hash: table.uint32(of.hash), level: table.text(of.level) }
    }),
    methods: root.tables(at.methods).map(readMethod),
    unplanned: root.tables(at.unplanned).map((table) => {
      const of = Field.unplanned
      return { method: table.text(of.method), signature: table.text(of.signature), reason: table.text(of.reason) }
    }),
    missing: root
      .tables(at.missing)
      .map((table) => ({ operator: table.text(Field.missing.operator), methods: table.texts(Field.missing.methods) })),
    training: {
      set: set === 0 ? null : set > 1,
      isOn: root.uint8(at.inTraining) !== 0,
      layers: layers.flatMap((name, i) => (i % 2 === 0 ? { name, type: layers[i + 1] ?? '' } : [])),
    },
    ...readRounding(root),
    ...readCaches(root),
  }
}

/** What weights were rounded to, as an option of AheadModule. */
function readRounding(root: FlatTable): { readonly rounding?: AheadWeights } {
  const at = Field.module
  const name = root.text(at.weights)
  if (name === '') return {}
  const weights = WEIGHT_NAMES.find((known) => known === name)
  const group = root.int32(at.weightGroup)
  if (weights === undefined || ![0, 32, 64, 128, 256].includes(group)) throw root.reader.error('its weights have an unknown format')
  const named = root.uint8(at.activations)
  if (named > ACTIVATION_NAMES.length) throw root.reader.error('its activations have an unknown format')
  const activations = named === 0 ? {} : { activations: ACTIVATION_NAMES[named - 1]! }
  return { rounding: { weights, ...(group === 0 ? {} : { group }), ...activations } }
}

/** What caches were rounded to. */
function readCaches(root: FlatTable): { readonly kvCache?: CacheName } {
  const name = root.text(Field.module.kvCache)
  if (name === '') return {}
  const kvCache = CACHE_NAMES.find((known) => known === name)
  if (kvCache === undefined) throw root.reader.error('its caches have an unknown format')
  return { kvCache }
}

function readMethod(table: FlatTable): AheadMethod {
  const values = new ValueDecoder(() => {
    throw table.reader.error('a default value is a tensor')
  })
  const args = table.tables(Field.method.arguments).map((argument): AheadArgument => {
    const value = argument.table(Field.argument.defaultValue)
    return {
      name: argument.text(Field.argument.name),
      type: argument.text(Field.argument.type),
      default: value === null ? undefined : values.value(value),
    }
  })
  return { name: table.text(Field.method.name), arguments: args }
}
