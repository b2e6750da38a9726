import { join } from 'node:path'
import { replayRecordings } from '../../../../test/support/replay.ts'

replayRecordings({
  kind: 'anthropic',
  dialect: 'messages',
  folder: join(import.meta.dirname, 'fixtures'),
  errorFrame: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
  nonconforming: ['careless-imitator'],
})
