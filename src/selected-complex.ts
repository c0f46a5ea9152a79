/** What a selective build exports for complex numbers, where it has them. */
export { Complex, complex } from '../runtime/tensor/scalar.js'
