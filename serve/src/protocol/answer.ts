import { toBinary } from './elements.js'
import { InexpressibleError, toJsonText } from './json-text.js'
import type { NamedTensor } from './tensor.js'

export interface Answer {
  /** JSON, and what of it is binary data behind it. */
  readonly body: string | Buffer
  /** Bytes of the JSON, where binary data follow it. */
  readonly headerLength: number | null
}

export interface AnswerOutput extends NamedTensor {
  readonly binary: boolean
}

/** What a request is answered with. Throws InexpressibleError. */
export function inferAnswer(model: string, version: string, id: string | undefined, outputs: readonly AnswerOutput[]): Answer {
  try {
    return answerOf(model, version, id, outputs)
  } catch (error) {
    if (error instanceof RangeError) throw new InexpressibleError('the outputs are too long for JSON; ask for "binary_data"')
    throw error
  }
}

function answerOf(model: string, version: string, id: string | undefined, outputs: readonly AnswerOutput[]): Answer {
  const parts: Uint8Array[] = []
  let texts = ''
  for (const { name, datatype, shape, data, binary } of outputs) {
    let contents: string
    if (binary) {
      const bytes = toBinary(datatype, data)
      parts.push(bytes)
      contents = `"parameters":{"binary_data_size":${bytes.length}}`
    } else contents = `"data":[${toJsonText(datatype, data, name)}]`
    texts += `${texts === '' ? '' : ','}{"name":${JSON.stringify(name)},"datatype":"${datatype}","shape":[${shape.join()}],${contents}}`
  }
  const given = id === undefined ? '' : `"id":${JSON.stringify(id)},`
  const json = `{"model_name":${JSON.stringify(model)},"model_version":${JSON.stringify(version)},${given}"outputs":[${texts}]}`
  if (parts.length === 0) return { body: json, headerLength: null }
  const header = Buffer.from(json)
  return { body: Buffer.concat([header, ...parts]), headerLength: header.length }
}
