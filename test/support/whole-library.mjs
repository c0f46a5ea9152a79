// Tests that import files of the library by themselves have its chunks at hand, too (chunks/).
import { isMainThread } from 'node:worker_threads'

const { PTLITE_TEST_BUNDLES: bundles } = process.env
if (isMainThread) await import(bundles === undefined ? '../../src/index.ts' : `${bundles}/src/index.js`)
