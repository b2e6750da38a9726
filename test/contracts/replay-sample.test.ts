import { engines } from '../support/engines.ts'
import { replaySampleContract } from './replay-sample.contract.ts'

for (const engine of engines) replaySampleContract(engine)
