// Makes the operators of custom_ops.yaml known; `ptlite run model.ptl --ops FILE` takes it as FILE.
import { register } from './generated/operators.js'

register()
