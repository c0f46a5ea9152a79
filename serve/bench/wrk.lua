-- One request, from files: wrk ... -s wrk.lua URL -- HEADERS BODY
function init(args)
  local file = assert(io.open(args[2], 'rb'))
  wrk.method = 'POST'
  wrk.body = file:read('*a')
  file:close()
  for line in io.lines(args[1]) do
    local name, value = line:match('^([^:]+): (.*)$')
    wrk.headers[name] = value
  end
end

function done(summary, latency, requests)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('{"requests":%d,"us":%d,"p50":%d,"p99":%d,"failed":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), failed))
end
