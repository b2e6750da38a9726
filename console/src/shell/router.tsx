import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router'
import { readAlertsSearch } from '../pages/alerts/search.ts'
import { readAuditSearch } from '../pages/audit/search.ts'
import { readCostsSearch } from '../pages/costs/search.ts'
import { readHistorySearch, readPoliciesSearch, readReplaySearch } from '../pages/policies/search.ts'
import { readGatewaySearch } from '../pages/gateway/search.ts'
import { readJudgesSearch } from '../pages/judges/search.ts'
import { readMembersSearch } from '../pages/members/search.ts'
import { readLimitsSearch } from '../pages/limits/search.ts'
import { readModelsSearch } from '../pages/models/search.ts'
import { readPlaygroundSearch } from '../pages/playground/search.ts'
import { readProjectsSearch } from '../pages/projects/search.ts'
import { readReviewsSearch } from '../pages/reviews/search.ts'
import { readSettingsSearch } from '../pages/settings/search.ts'
import { readSinksSearch } from '../pages/sinks/search.ts'
import { readRequestSearch } from '../pages/requests/search.ts'
import { NotFound } from './not-found.tsx'
import { PageBones } from './page-bones.tsx'
import { Shell } from './shell.tsx'
import { readTimeRange, readZone } from '../session/time-range.ts'

/** The time range and the zone follow from page to page, so they belong to the root. */
const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  validateSearch: (search: Record<string, unknown>) => ({ ...readTimeRange(search), ...readZone(search) }),
  search: { middlewares: [retainSearchParams(['range', 'from', 'to', 'zone'])] },
})

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => redirect({ to: '/overview', search: true, throw: true }),
})

const overview = createRoute({
  getParentRoute: () => root,
  path: '/overview',
  component: lazyRouteComponent(() => import('../pages/overview/page.tsx'), 'OverviewPage'),
})

const requests = createRoute({
  getParentRoute: () => root,
  path: '/requests',
  validateSearch: readRequestSearch,
  component: lazyRouteComponent(() => import('../pages/requests/page.tsx'), 'RequestsPage'),
})

const request = createRoute({
  getParentRoute: () => requests,
  path: '$requestId',
  component: lazyRouteComponent(() => import('../pages/requests/page.tsx'), 'RequestDrawer'),
})

const playground = createRoute({
  getParentRoute: () => root,
  path: '/playground',
  validateSearch: readPlaygroundSearch,
  component: lazyRouteComponent(() => import('../pages/playground/page.tsx'), 'PlaygroundPage'),
})

const policies = createRoute({
  getParentRoute: () => root,
  path: '/policies',
  validateSearch: readPoliciesSearch,
  component: lazyRouteComponent(() => import('../pages/policies/page.tsx'), 'PoliciesPage'),
})

const policy = createRoute({
  getParentRoute: () => root,
  path: '/policies/$policyId',
  component: lazyRouteComponent(() => import('../pages/policies/policy-page.tsx'), 'PolicyPage'),
})

const policyTabs = [
  createRoute({
    getParentRoute: () => policy,
    path: '/',
    component: lazyRouteComponent(() => import('../pages/policies/edit-tab.tsx'), 'EditTab'),
  }),
  createRoute({
    getParentRoute: () => policy,
    path: 'cases',
    component: lazyRouteComponent(() => import('../pages/policies/cases-tab.tsx'), 'CasesTab'),
  }),
  createRoute({
    getParentRoute: () => policy,
    path: 'replay',
    validateSearch: readReplaySearch,
    component: lazyRouteComponent(() => import('../pages/policies/replay-tab.tsx'), 'ReplayTab'),
  }),
  createRoute({
    getParentRoute: () => policy,
    path: 'gate',
    component: lazyRouteComponent(() => import('../pages/policies/gate-tab.tsx'), 'GateTab'),
  }),
  createRoute({
    getParentRoute: () => policy,
    path: 'exceptions',
    component: lazyRouteComponent(() => import('../pages/policies/exceptions-tab.tsx'), 'ExceptionsTab'),
  }),
  createRoute({
    getParentRoute: () => policy,
    path: 'rollout',
    component: lazyRouteComponent(() => import('../pages/policies/rollout-tab.tsx'), 'RolloutTab'),
  }),
  createRoute({
    getParentRoute: () => policy,
    path: 'history',
    validateSearch: readHistorySearch,
    component: lazyRouteComponent(() => import('../pages/policies/history-tab.tsx'), 'HistoryTab'),
  }),
  createRoute({
    getParentRoute: () => policy,
    path: 'activity',
    component: lazyRouteComponent(() => import('../pages/policies/activity-tab.tsx'), 'ActivityTab'),
  }),
] as const

const gateway = createRoute({
  getParentRoute: () => root,
  path: '/gateway',
  validateSearch: readGatewaySearch,
  component: lazyRouteComponent(() => import('../pages/gateway/page.tsx'), 'GatewayPage'),
})

const reviews = createRoute({
  getParentRoute: () => root,
  path: '/reviews',
  validateSearch: readReviewsSearch,
  component: lazyRouteComponent(() => import('../pages/reviews/page.tsx'), 'ReviewsPage'),
})

const models = createRoute({
  getParentRoute: () => root,
  path: '/models',
  validateSearch: readModelsSearch,
  component: lazyRouteComponent(() => import('../pages/models/page.tsx'), 'ModelsPage'),
})

const judges = createRoute({
  getParentRoute: () => root,
  path: '/judges',
  validateSearch: readJudgesSearch,
  component: lazyRouteComponent(() => import('../pages/judges/page.tsx'), 'JudgesPage'),
})

const costs = createRoute({
  getParentRoute: () => root,
  path: '/costs',
  validateSearch: readCostsSearch,
  component: lazyRouteComponent(() => import('../pages/costs/page.tsx'), 'CostsPage'),
})

const limits = createRoute({
  getParentRoute: () => root,
  path: '/limits',
  validateSearch: readLimitsSearch,
  component: lazyRouteComponent(() => import('../pages/limits/page.tsx'), 'LimitsPage'),
})

const sinks = createRoute({
  getParentRoute: () => root,
  path: '/sinks',
  validateSearch: readSinksSearch,
  component: lazyRouteComponent(() => import('../pages/sinks/page.tsx'), 'SinksPage'),
})

const sink = createRoute({
  getParentRoute: () => sinks,
  path: '$sinkId',
  component: lazyRouteComponent(() => import('../pages/sinks/page.tsx'), 'SinkDrawer'),
})

/** The page was at `/exports` before, and bookmarks and links lead there. */
const formerSinks = [
  createRoute({
    getParentRoute: () => root,
    path: '/exports',
    beforeLoad: () => redirect({ to: '/sinks', search: true, replace: true, throw: true }),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/exports/$sinkId',
    beforeLoad: ({ params }) => redirect({ to: '/sinks/$sinkId', params, search: true, replace: true, throw: true }),
  }),
]

const alerts = createRoute({
  getParentRoute: () => root,
  path: '/alerts',
  validateSearch: readAlertsSearch,
  component: lazyRouteComponent(() => import('../pages/alerts/page.tsx'), 'AlertsPage'),
})

const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: readAuditSearch,
  component: lazyRouteComponent(() => import('../pages/audit/page.tsx'), 'AuditPage'),
})

const auditEvent = createRoute({
  getParentRoute: () => audit,
  path: '$eventId',
  component: lazyRouteComponent(() => import('../pages/audit/page.tsx'), 'EventDrawer'),
})

const projects = createRoute({
  getParentRoute: () => root,
  path: '/projects',
  validateSearch: readProjectsSearch,
  component: lazyRouteComponent(() => import('../pages/projects/page.tsx'), 'ProjectsPage'),
})

const members = createRoute({
  getParentRoute: () => root,
  path: '/members',
  validateSearch: readMembersSearch,
  component: lazyRouteComponent(() => import('../pages/members/page.tsx'), 'MembersPage'),
})

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  validateSearch: readSettingsSearch,
  component: lazyRouteComponent(() => import('../pages/settings/page.tsx'), 'SettingsPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    start,
    overview,
    requests.addChildren([request]),
    playground,
    policies,
    policy.addChildren(policyTabs),
    gateway,
    reviews,
    models,
    judges,
    costs,
    limits,
    sinks.addChildren([sink]),
    ...formerSinks,
    alerts,
    audit.addChildren([auditEvent]),
    projects,
    members,
    settings,
  ]),
  basepath: new URL(document.baseURI).pathname,
  defaultPreload: 'intent',
  defaultPendingComponent: PageBones,
  defaultPendingMs: 100,
  defaultPendingMinMs: 0,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
