import { damaged, guarded, unsupported } from '../../program/file-error.js'
import { type DType, isQuantized, itemSize, nameOfCode } from '../../runtime/tensor/dtype.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { ScriptObject } from '../../runtime/tensor/value.js'
import type { FilePart } from '../containers/file-part.js'
import type { ValueBudget } from '../containers/value-budget.js'
import type { TensorPool } from '../reading/tensor-pool.js'
import type { ProgramData } from './data.js'
import { type Form, stridesOf } from './form.js'
import { elementCount, type TensorData } from './plan.js'

/** What elements of any type need. */
const ALIGNMENT = 16
/** Bytes that buffers of any program may have: they are not in its file. */
const FREE_BYTES = 2 ** 28

/** Scalar types of ExecuTorch that this runtime has no tensors of. */
const LACKING: Readonly<Record<number, string>> = {
  22: 'bits16',
}

/** Whether this runtime has no tensors of a scalar type. */
export function isLacking(scalarType: number): boolean {
  return scalarType in LACKING
}

/** Bytes of a tensor's elements. Throws UNSUPPORTED_FILE for a dtype that this runtime has not got. */
export function byteSizeOf({ scalarType, sizes }: Pick<Form, 'scalarType' | 'sizes'>): number {
  const lacking = LACKING[scalarType]
  if (lacking !== undefined)
    throw unsupported(`a tensor of ${lacking}, which this runtime has not got; export the model with another dtype`)
  if (nameOfCode(scalarType) === undefined || isQuantized(scalarType as DType))
    throw damaged(`a tensor of scalar type number ${scalarType}`)
  const bytes = elementCount(sizes) * itemSize(scalarType as DType)
  if (!Number.isSafeInteger(bytes)) throw damaged(`a tensor of the sizes [${sizes.join(', ')}]`)
  return bytes
}

/** The tensors that a program's methods have in common: constants, weights of delegates and what they write to between calls. They become attributes of one object. */
export class Attributes {
  private readonly slots = new Map<string, number>()
  private readonly names: string[] = []
  private readonly makers: (() => Tensor)[] = []
  private readonly used = new Set<string>()
  private stateBytes = 0

  constructor(
    private readonly className: string,
    private readonly pool: TensorPool,
    private readonly data: ProgramData,
    private readonly budget: ValueBudget,
  ) {}

  /** The slot of a constant, one for each `key` and form. */
  constant(key: string, name: string, form: Form, data: TensorData | FilePart): number {
    return this.slot(`${key} ${form.scalarType} ${form.sizes.join()} ${form.dimOrder.join()}`, name, () => {
      const bytes = byteSizeOf(form)
      return this.onStorage(this.part(data, bytes).storageAt(0, bytes, ALIGNMENT), form)
    })
  }

  /** The slot of what is written to, one for each `key`: it begins with data of the file, or with zeros. */
  state(key: string, name: string, form: Form, first: TensorData | null): number {
    return this.slot(key, name, () => {
      const bytes = byteSizeOf(form)
      const free = Math.max(FREE_BYTES - this.stateBytes, 0)
      this.stateBytes += bytes
      if (bytes > free) this.budget.spendBytes(bytes - free)
      // others may begin with the same bytes
      const content = first === null ? new Uint8Array(bytes) : Uint8Array.from(this.part(first, bytes).read(0, bytes))
      return this.onStorage(Storage.holding(content), form)
    })
  }

  private part(data: TensorData | FilePart, bytes: number): FilePart {
    const part = 'read' in data ? data : this.bytesOf(data, bytes)
    if (part.size < bytes) throw damaged(`expected ${bytes} bytes, found ${part.size}`)
    return part
  }

  /** The slot of a tensor of numbers that the reader has made of the file's. */
  made(key: string, name: string, form: Form, make: () => Uint8Array): number {
    return this.slot(key, name, () => this.onStorage(Storage.holding(make()), form))
  }

  /** The bytes of a constant. */
  bytesOf(data: TensorData, size: number): FilePart {
    switch (data.kind) {
      case 'constant':
        return this.data.constant(data.index, size)
      case 'initial':
        return this.data.initial(data.segment, data.index, size)
      case 'external': {
        const found = this.data.find(data.key)
        if (found === undefined) throw missingData(data.key)
        return found
      }
    }
  }

  root(): ScriptObject {
    const slots = this.makers.map((make, i) => guarded(`'${this.names[i]!}'`, make))
    return new ScriptObject(this.className, this.names, slots)
  }

  private slot(key: string, name: string, make: () => Tensor): number {
    const known = this.slots.get(key)
    if (known !== undefined) return known
    let own = name
    for (let i = 1; this.used.has(own); i++) own = `${name}_${i}`
    this.used.add(own)
    this.names.push(own)
    this.slots.set(key, this.makers.push(make) - 1)
    return this.makers.length - 1
  }

  private onStorage(storage: Storage, form: Form): Tensor {
    const { scalarType, sizes } = form
    const tensor = this.pool.build(storage, { scalarType, offset: 0, sizes, strides: stridesOf(form), quant: null })
    if (tensor instanceof Tensor) return tensor
    throw damaged(`a tensor of scalar type number ${scalarType}`)
  }
}

/** A weight that is in none of the files. */
export function missingData(key: string): Error {
  return unsupported(
    `the data of '${key.slice(0, 200)}' are in none of the files at hand: give the .ptd files that were exported with the model, loadModule(path, { data: ['weights.ptd'] }), or put them beside it under its name`,
  )
}
