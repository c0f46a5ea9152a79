/** The messages of the service, by the numbers that the specification gives their fields. */
const PARAMETER = {
  bool_param: [1, 'bool'],
  int64_param: [2, 'int64'],
  string_param: [3, 'string'],
  double_param: [4, 'double'],
  uint64_param: [5, 'uint64'],
}
const PARAMETERS = { map: PARAMETER }
const CONTENTS = {
  bool_contents: [1, 'bool', true],
  int_contents: [2, 'int32', true],
  int64_contents: [3, 'int64', true],
  uint_contents: [4, 'uint32', true],
  uint64_contents: [5, 'uint64', true],
  fp32_contents: [6, 'float', true],
  fp64_contents: [7, 'double', true],
  bytes_contents: [8, 'bytes', true],
}
const METADATA = { name: [1, 'string'], datatype: [2, 'string'], shape: [3, 'int64', true] }
const TENSOR = { ...METADATA, parameters: [4, PARAMETERS], contents: [5, CONTENTS] }
const DURATION = { count: [1, 'uint64'], ns: [2, 'uint64'] }
const STATISTICS = {
  name: [1, 'string'],
  version: [2, 'string'],
  last_inference: [3, 'uint64'],
  inference_count: [4, 'uint64'],
  execution_count: [5, 'uint64'],
  inference_stats: [
    6,
    {
      success: [1, DURATION],
      fail: [2, DURATION],
      queue: [3, DURATION],
      compute_input: [4, DURATION],
      compute_infer: [5, DURATION],
      compute_output: [6, DURATION],
    },
  ],
  batch_stats: [
    7,
    { batch_size: [1, 'uint64'], compute_input: [2, DURATION], compute_infer: [3, DURATION], compute_output: [4, DURATION] },
    true,
  ],
}
const NAMED = { name: [1, 'string'], version: [2, 'string'] }
const INFER_REQUEST = {
  model_name: [1, 'string'],
  model_version: [2, 'string'],
  id: [3, 'string'],
  parameters: [4, PARAMETERS],
  inputs: [5, TENSOR, true],
  outputs: [6, { name: [1, 'string'], parameters: [2, PARAMETERS] }, true],
  raw_input_contents: [7, 'bytes', true],
}
const INFER_RESPONSE = {
  model_name: [1, 'string'],
  model_version: [2, 'string'],
  id: [3, 'string'],
  parameters: [4, PARAMETERS],
  outputs: [5, TENSOR, true],
  raw_output_contents: [6, 'bytes', true],
}
const REPOSITORY = { repository_name: [1, 'string'], model_name: [2, 'string'] }

/** What each method takes and gives. */
export const METHODS = {
  ServerLive: [{}, { live: [1, 'bool'] }],
  ServerReady: [{}, { ready: [1, 'bool'] }],
  ModelReady: [NAMED, { ready: [1, 'bool'] }],
  ServerMetadata: [{}, { name: [1, 'string'], version: [2, 'string'], extensions: [3, 'string', true] }],
  ModelMetadata: [
    NAMED,
    {
      name: [1, 'string'],
      versions: [2, 'string', true],
      platform: [3, 'string'],
      inputs: [4, METADATA, true],
      outputs: [5, METADATA, true],
    },
  ],
  ModelInfer: [INFER_REQUEST, INFER_RESPONSE],
  ModelStreamInfer: [INFER_REQUEST, { error_message: [1, 'string'], infer_response: [2, INFER_RESPONSE] }],
  ModelStatistics: [NAMED, { model_stats: [1, STATISTICS, true] }],
  RepositoryIndex: [
    { repository_name: [1, 'string'], ready: [2, 'bool'] },
    { models: [1, { name: [1, 'string'], version: [2, 'string'], state: [3, 'string'], reason: [4, 'string'] }, true] },
  ],
  RepositoryModelLoad: [REPOSITORY, {}],
  RepositoryModelUnload: [REPOSITORY, {}],
}

/** The field of typed contents that holds elements of a datatype; the 16-bit floats have none. */
export const CONTENTS_OF = {
  BOOL: 'bool_contents',
  INT8: 'int_contents',
  INT16: 'int_contents',
  INT32: 'int_contents',
  INT64: 'int64_contents',
  UINT8: 'uint_contents',
  UINT16: 'uint_contents',
  UINT32: 'uint_contents',
  UINT64: 'uint64_contents',
  FP32: 'fp32_contents',
  FP64: 'fp64_contents',
  BYTES: 'bytes_contents',
}
