import { createChannelKinds } from '../../adapters/alerts/channel-kinds.ts'
import { alertStore } from '../../adapters/stores/sql/alerts/alerts.ts'
import { alertChannelStore } from '../../adapters/stores/sql/alerts/channels.ts'
import { alertRuleStore } from '../../adapters/stores/sql/alerts/rules.ts'
import { createChannelAdministration } from '../../domain/alerts/channel-mutations.ts'
import { createRuleAdministration } from '../../domain/alerts/rule-mutations.ts'
import { alertListRoute } from '../../http/admin/alerts/alert-routes.ts'
import { alertChannelRoutes } from '../../http/admin/alerts/channel-routes.ts'
import { alertRuleRoutes } from '../../http/admin/alerts/rule-routes.ts'
import { alertTestRoute } from '../../http/admin/alerts/test-route.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import { createSinkAddressRules } from '../sink-addresses.ts'
import type { ChannelTest } from '../../domain/alerts/test-channel.ts'
import type { Feature, FeatureParts } from './feature.ts'

/** What alerts need of a running server. */
export type AlertServerParts = { readonly testChannel: ChannelTest }

/** Alerts that leave the console: their channels, their rules, and what was sent. */
export function createAlerts({ config, clock, ids, stores }: FeatureParts, { testChannel }: AlertServerParts): Feature {
  const own = stores.of((tx) => ({
    channels: alertChannelStore(tx, stores.encryptions.alertSecrets),
    rules: alertRuleStore(tx),
    alerts: alertStore(tx, { ids, clock }),
  }))
  const kinds = createChannelKinds(config.mail)
  const { findProblem: findAddressProblem } = createSinkAddressRules(config.exports)
  const channels = createChannelAdministration({ kinds, findAddressProblem, ids, clock })
  const rules = createRuleAdministration({ ids, clock })
  return {
    administration(surface) {
      const routes = createResourceRoutes({ ...surface, ...own })
      return [
        ...alertChannelRoutes(routes, channels, kinds),
        alertTestRoute({ ...surface, channels: own.reads.channels, mutate: own.mutate, testChannel }),
        ...alertRuleRoutes(routes, rules, { isSystemVisible: config.administration.system_visible }),
        alertListRoute(routes),
      ]
    },
  }
}
