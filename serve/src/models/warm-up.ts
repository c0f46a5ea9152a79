import { DATATYPES } from '../protocol/datatypes.js'
import { elementsOf, fromJson } from '../protocol/elements.js'
import { invalid } from '../protocol/error.js'
import { ConfigError, type ModelConfig, type WarmUpInput } from '../repository/config.js'
import type { SentTensor } from '../workers/messages.js'
import { toSent } from '../workers/transfer.js'
import type { ServedModel } from './served-model.js'
import { bind, zerosFor } from './signature.js'

type Inputs = ServedModel['facts']['inputs']

/** Calls that a model is to be ready for: those of its config, or one with zeros where its inputs are known. Throws ConfigError. */
export function warmUpFor(config: ModelConfig, inputs: Inputs): SentTensor[][] {
  if (config.warmUp === null) {
    const call = zerosFor(inputs)
    return call === null ? [] : [call]
  }
  const calls = config.warmUp.map(tensorsOf)
  if (inputs !== null)
    for (const call of calls)
      bind(
        inputs,
        call.map((each, i) => ({ ...each, name: inputs[i]?.name ?? `${i}`, data: [] })),
      )
  return calls
}

/** What a warm-up shows of inputs that nothing is said about. */
export function knownInputs(inputs: Inputs, warmUp: readonly SentTensor[] | undefined): Inputs {
  if (warmUp === undefined) return inputs
  return (
    inputs?.map((info, i) => (info.datatype === null && warmUp[i] !== undefined ? { ...info, datatype: warmUp[i].datatype } : info)) ?? null
  )
}

function tensorsOf(call: readonly WarmUpInput[], i: number): SentTensor[] {
  return call.map(({ datatype, shape, data }, j) => {
    const where = `warmUp[${i}][${j}]`
    try {
      const count = elementsOf(shape, where, 2 ** 28)
      if (datatype === 'BYTES') throw invalid('BYTES cannot be warmed up with')
      const { array: ArrayOf } = DATATYPES[datatype]
      return toSent({
        datatype,
        shape,
        data: data === null ? new ArrayOf(count) : fromJson(data, datatype, shape, count, where),
      }) as SentTensor
    } catch (error) {
      throw new ConfigError(`${where}: ${(error as Error).message}`)
    }
  })
}
