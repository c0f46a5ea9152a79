/** Requests of MLServer's documentation (SeldonIO/MLServer, docs/examples), which Python's requests library sends. */
import { pythonJson, unequal } from './framing.mjs'

const headers = {
  'content-type': 'application/json',
  accept: '*/*',
  'accept-encoding': 'gzip, deflate',
  connection: 'keep-alive',
  'user-agent': 'python-requests/2.32.3',
}
const post = (request) => ({ method: 'POST', path: 'v2/models/sklearn-iris/infer', headers, body: pythonJson(request) })
const row = [[6.8, 2.8, 4.8, 1.4]]
const isClass = ({ json }) => unequal(json.outputs[0].data.flat(Infinity), [1], 'predict')

export const examples = [
  {
    section: 'MLServer docs, Serving scikit-learn models',
    rule: 'an inference request of tolist()',
    request: post({ inputs: [{ name: 'input-0', shape: [1, 4], datatype: 'FP32', data: row }] }),
    status: 200,
    check: isClass,
  },
  {
    section: 'MLServer docs, Content Type Decoding',
    rule: 'an input whose parameters have a content_type',
    request: post({ inputs: [{ name: 'input-0', datatype: 'FP32', shape: [1, 4], data: row[0], parameters: { content_type: 'np' } }] }),
    status: 200,
    check: isClass,
  },
  {
    section: 'MLServer docs, Serving Custom Models',
    rule: 'what NumpyCodec.encode_input and model_dump() make',
    request: post({ inputs: [{ name: 'input-0', shape: [1, 4], datatype: 'FP32', parameters: { content_type: 'np' }, data: row[0] }] }),
    status: 200,
    check: isClass,
  },
  {
    section: 'MLServer docs, Multi-Model Serving',
    rule: 'the health of a model by its path',
    request: { method: 'GET', path: 'v2/models/sklearn-iris/ready', headers },
    status: 200,
  },
]
