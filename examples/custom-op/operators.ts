// Makes the operators of custom_ops.yaml known; `ptlite run model.ptl --ops FILE` takes it as FILE.
import { fileURLToPath } from 'node:url'
import { loadKernels } from './generated/kernels.js'
import { register } from './generated/operators.js'

loadKernels(fileURLToPath(new URL('generated/libcustom.so', import.meta.url)))
register()
