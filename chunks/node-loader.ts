import { setChunkLoader } from '../runtime/chunk.js'

/** In the built package for Node, which has a file for each chunk: stands for all.ts. CommonJS is what loads in the middle of a call in every version of Node. */
declare const require: (file: string) => unknown

setChunkLoader({
  now(name) {
    require(`./${name}.cjs`)
  },
})
