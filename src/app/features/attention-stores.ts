import { exportStore } from '../../adapters/stores/sql/exports/sinks.ts'
import { directoryStore } from '../../adapters/stores/sql/identity/directory.ts'
import { appealStore } from '../../adapters/stores/sql/policies/appeals.ts'
import { exceptionStore } from '../../adapters/stores/sql/policies/exceptions.ts'
import { gatewayStore } from '../../adapters/stores/sql/policies/gateway-configurations.ts'
import { judgeAlarmStore } from '../../adapters/stores/sql/judges/alarms.ts'
import { judgeStore } from '../../adapters/stores/sql/judges/judges.ts'
import { policyStore } from '../../adapters/stores/sql/policies/policies.ts'
import { reportedSpikes } from '../../adapters/stores/sql/policies/reported-spikes.ts'
import type { Transaction } from '../../adapters/stores/sql/database.ts'
import type { Stores } from '../stores.ts'

/** What the attention list is made from, except for the audit log. */
export const attentionStores = (stores: Stores) => (tx: Transaction) => ({
  policies: policyStore(tx),
  spikes: reportedSpikes(tx),
  gateway: gatewayStore(tx),
  exports: exportStore(tx, stores.encryptions.exportSecrets),
  directory: directoryStore(tx),
  appeals: appealStore(tx, stores.encryptions.appealTexts),
  judges: judgeStore(tx),
  judgeAlarms: judgeAlarmStore(tx),
  exceptions: exceptionStore(tx),
})
