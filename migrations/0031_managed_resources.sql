-- Which files manage a resource: the owner that they name. A resource without a row is changed by hand.
create table managed_resource (
  organization_id TEXT not null references organization (id),
  resource_id TEXT not null, -- a project, key, export sink or policy; 'gateway_config' for the gateway configuration
  owner TEXT not null,
  primary key (organization_id, resource_id)
) STRICT;
