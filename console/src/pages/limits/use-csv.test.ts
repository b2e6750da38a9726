import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Usage } from './queries.ts'
import { usageCsv } from './use-csv.ts'

it('usage has a line for each step and group, and no text that a spreadsheet runs', () => {
  const counts = { requests: 2, input_tokens: 3, cache_read_tokens: 0, cache_write_tokens: 0, output_tokens: 4 }
  const result = { ...counts, project_id: null, api_key_id: null, model: null, credits: 1.5, cost_usd: 0.0015 }
  const usage = {
    start_time: 0,
    end_time: 7_200,
    data: [
      { start_time: 0, end_time: 3_600, results: [{ ...result, user_id: '=1+1' }] },
      { start_time: 3_600, end_time: 7_200, results: [{ ...result, user_id: 'a "b", c' }] },
    ],
  } as unknown as Usage
  assert.deepEqual(usageCsv(usage).split('\r\n'), [
    'start_time,end_time,project_id,api_key_id,model,user_id,requests,input_tokens,cache_read_tokens,cache_write_tokens,output_tokens,credits,cost_usd',
    `1970-01-01T00:00:00.000Z,1970-01-01T01:00:00.000Z,,,,'=1+1,2,3,0,0,4,1.5,0.0015`,
    `1970-01-01T01:00:00.000Z,1970-01-01T02:00:00.000Z,,,,"a ""b"", c",2,3,0,0,4,1.5,0.0015`,
    '',
  ])
})
