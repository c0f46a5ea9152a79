import type { Storage } from '../../runtime/tensor/storage.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { lackingDtype } from './enums.js'
import type { ValueBudget } from '../containers/value-budget.js'
import type { ZipArchive } from '../containers/zip/archive.js'
import type { TensorPool } from '../reading/tensor-pool.js'
import { damaged, guarded, unsupported } from '../../program/file-error.js'
import { JsonReader } from '../exported/json.js'
import { booleanOf, objectOf, textOf } from '../exported/json-values.js'
import { SubclassReader } from './subclass-pickle.js'
import { fixedSizes, readTensorMeta, type TensorMeta } from './tensor-meta.js'

/** What elements of any type need: tensors of several may view one record. */
const ALIGNMENT = 8

export const WEIGHTS = 'data/weights/'
export const CONSTANTS = 'data/constants/'

/** Where a tensor lies in the archive. */
export type Payload =
  /** Its elements are a record. */
  | { readonly kind: 'elements'; readonly record: string; readonly meta: TensorMeta }
  /** It is of a subclass: a record is its pickle, in an archive of its own. */
  | { readonly kind: 'pickled'; readonly record: string }
  /** It is in such a pickle, behind these attributes. */
  | { readonly kind: 'inner'; readonly record: string; readonly path: readonly string[] }

/** Whether it is a tensor of a subclass. */
export function isPickled(payload: Payload): boolean {
  return payload.kind === 'pickled'
}

/** The tensors of a folder of the archive by name. `config` is the record that lists them, which archives without any may lack. */
export function readPayloads(zip: ZipArchive, folder: string, config: string, budget: ValueBudget): Map<string, Payload> {
  const record = folder + config
  if (!zip.holds(record)) return new Map()
  return guarded(record, () => {
    const list = objectOf(objectOf(new JsonReader(zip.contentOf(record), budget).document()).get('config'))
    return new Map([...list].map(([name, item]) => [name, guarded(`'${name}'`, () => readPayload(objectOf(item), folder))] as const))
  })
}

function readPayload(fields: ReturnType<typeof objectOf>, folder: string): Payload {
  const path = textOf(fields.get('path_name'))
  if (booleanOf(fields.get('use_pickle') ?? false)) {
    if (path.startsWith('custom_obj') || path.startsWith('opaque_obj'))
      throw unsupported('it is an object of a C++ class, which the file holds as a pickle; export the program with plain tensors')
    return { kind: 'pickled', record: folder + path }
  }
  return { kind: 'elements', record: folder + path, meta: readTensorMeta(fields.get('tensor_meta')) }
}

/** Makes tensors on the records that they view; what is one record is one storage. */
export class StoredTensors {
  private readonly storages = new Map<string, Storage>()
  private readonly subclasses: SubclassReader

  constructor(
    private readonly zip: ZipArchive,
    private readonly pool: TensorPool,
    budget: ValueBudget,
  ) {
    this.subclasses = new SubclassReader(zip, pool, budget)
  }

  tensor(payload: Payload): Tensor {
    if (payload.kind !== 'elements') return this.subclasses.tensorAt(payload.record, payload.kind === 'inner' ? payload.path : [])
    const { record, meta } = payload
    const { scalarType } = meta
    const lacking = lackingDtype(scalarType)
    if (lacking !== undefined)
      throw unsupported(`a tensor of ${lacking}, which this runtime has not got; export the program with another dtype`)
    const sizes = fixedSizes(meta.sizes)
    const [offset] = fixedSizes([meta.offset])
    const tensor = this.pool.build(this.storageOf(record), {
      scalarType,
      offset: offset!,
      sizes,
      strides: fixedSizes(meta.strides),
      quant: null,
    })
    if (tensor instanceof Tensor) return tensor
    throw damaged(`the scalar type number ${scalarType} is none of a tensor`)
  }

  private storageOf(record: string): Storage {
    let storage = this.storages.get(record)
    if (storage === undefined) {
      storage = this.zip.storageAt(record, ALIGNMENT)
      this.storages.set(record, storage)
    }
    return storage
  }
}
