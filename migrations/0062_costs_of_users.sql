-- The costs of one end user, for the counters of budgets.
create index rollup_cost_user on rollup (organization_id, step, user_id, start_time) where kind = 'cost';
