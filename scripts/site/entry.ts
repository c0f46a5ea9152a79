// What the reference describes: the exports of the library, of which `Tensor` is described as the class that it stands for.
export * from '../../src/index.js'
export { Tensor } from '../../runtime/tensor/tensor.js'
