-- Script for wrk: sends one request, or cycles through a file of paths from a given one on. Prints the result as JSON.
--   wrk … URL -- [FILE FIRST]

local requests = {}

function init(args)
  if args[1] == nil then return end
  for path in io.lines(args[1]) do requests[#requests + 1] = wrk.format("GET", path) end
  local next = tonumber(args[2])
  request = function()
    next = next % #requests + 1
    return requests[next]
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requestsPerS":%.3f,"p99Ms":%.3f,"failed":%d}\n',
    summary.requests / summary.duration * 1e6, latency:percentile(99) / 1e3,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
