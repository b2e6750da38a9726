import { join } from 'node:path'
import { replayRecordings } from '../../../../test/support/replay.ts'

replayRecordings({
  kind: 'openai-chat',
  dialect: 'chat',
  folder: join(import.meta.dirname, 'fixtures'),
  errorFrame: 'data: {"error":{"message":"Slow down","type":"rate_limit_error","param":null,"code":429}}\n\n',
  nonconforming: ['ollama-tools', 'tool-in-the-finish', 'unlabelled-tools'],
})
