import { engines } from '../support/engines.ts'
import { auditArchiveContract } from './audit-archive.contract.ts'
import { auditChainContract } from './audit-chain.contract.ts'
import { auditListContract } from './audit-list.contract.ts'
import { auditBlocksContract } from './audit-blocks.contract.ts'
import { auditKeepingContract } from './audit-retention.contract.ts'
import { exportContract } from './exports.contract.ts'

for (const engine of engines) {
  auditChainContract(engine)
  auditListContract(engine)
  auditBlocksContract(engine)
  auditKeepingContract(engine)
  auditArchiveContract(engine)
  exportContract(engine)
}
