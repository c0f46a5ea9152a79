export { itemOf as anyItemOf } from '../../runtime/tensor/data.js'
