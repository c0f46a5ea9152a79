// Tests that import files of the library by themselves have its chunks at hand, too (chunks/).
await import(process.env.PTLITE_TEST_BUNDLES === undefined ? '../../src/index.ts' : `${process.env.PTLITE_TEST_BUNDLES}/src/index.js`)
