import { join } from 'node:path'
import { replayRecordings } from '../../../../test/support/replay.ts'

replayRecordings({
  kind: 'openai-responses',
  dialect: 'responses',
  folder: join(import.meta.dirname, 'fixtures'),
  errorFrame:
    'event: error\ndata: {"type":"error","code":"rate_limit_exceeded","message":"Slow down","param":null}\n\n',
  careless: ['whole-at-the-end'],
})
