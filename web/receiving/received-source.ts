import { ByteSource, watch } from '../../formats/containers/bytes.js'
import type { Mapping } from '../../formats/containers/model-memory.js'

/** A model that came in pieces, in the kernels' memory, which is the source's from now on. */
export function receivedSource(memory: Mapping): ByteSource {
  watch(memory)
  return new ByteSource('the model', memory)
}
