import { createAppealFeature } from './appeals.ts'
import { createAlerts, type AlertServerParts } from './alerts.ts'
import { createAuditLog } from './audit-log.ts'
import { createBudgets } from './budgets.ts'
import { createEvaluate } from './evaluate.ts'
import { createExceptionFeature } from './exceptions.ts'
import type { Feature, FeatureParts, RunningServerParts } from './feature.ts'
import { createDecisionHistory, createGatewayConfiguration } from './gateway-configuration.ts'
import { createInstallation } from './installation.ts'
import { createJudges } from './judges.ts'
import { createKeys } from './keys.ts'
import { createLimitsAndCredits } from './limits-and-credits.ts'
import { createMemberFeature } from './members.ts'
import { createModels } from './models.ts'
import { createOrganization } from './organization.ts'
import { createOverview } from './overview.ts'
import { createPolicies } from './policies.ts'
import { createPublication } from './publication.ts'
import { createRequests } from './requests.ts'
import { createSinks } from './sinks.ts'
import { createViewFeature } from './views.ts'

/** All features, in the order of the reference. */
export function createFeatures(parts: FeatureParts, server: RunningServerParts & AlertServerParts): readonly Feature[] {
  const { evaluation, installation } = server
  return [
    createOrganization(parts),
    createPolicies(parts, evaluation),
    createPublication(parts, evaluation),
    createExceptionFeature(parts, evaluation),
    createEvaluate(parts, evaluation),
    createJudges(parts, server),
    createKeys(parts),
    createModels(parts, server),
    createMemberFeature(parts),
    createInstallation(parts, installation),
    createOverview(parts, server),
    createRequests(parts, evaluation),
    createAppealFeature(parts, evaluation),
    createViewFeature(parts),
    createGatewayConfiguration(parts, evaluation),
    createSinks(parts, server),
    createAlerts(parts, server),
    createDecisionHistory(parts),
    createAuditLog(parts),
    createLimitsAndCredits(parts, server),
    createBudgets(parts, server),
  ]
}
