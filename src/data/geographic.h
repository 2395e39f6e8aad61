/* Whether coordinates are degrees of longitude and latitude. Internal. */
#ifndef SR_DATA_GEOGRAPHIC_H
#define SR_DATA_GEOGRAPHIC_H

#include "table.h"

/* The well-known text of a reference system of degrees begins with GEOG (GEOGCS, GEOGCRS). */
bool sr__is_geographic(const char *projection);
#define SR__EARTH 6371008.8 /* mean radius, meters */
/* Longitudes that differ by 360 degrees are the same place: from 0 to below 360. */
double sr__round_the_globe(double longitude);
/* Degrees as a point on the sphere, meters from its middle. */
void sr__to_sphere(double longitude, double latitude, double out[3]);
/* Of the rows of a table whose two coordinates are degrees, three columns, freed with sr__free;
 * NULL for other tables, whose coordinates are points already. */
SR_MUST_CHECK sr_status sr__sphere_points(sr_context *ctx, const sr_table_view *table, double **at);
/* Of distances between the places of a table: degrees are measured in meters. */
sr_distance_unit sr__distance_unit(const sr_table_view *table);
/* Longitude and latitude of WGS 84 as well-known text. */
extern const char sr__wgs84[];
/* Degrees that count from another pole, which is not said: distances along the sphere are the same.
 */
extern const char sr__turned_pole[];
bool sr__is_turned(const char *projection);
/* 0 where a name is one of longitude, 1 of latitude, else -1. */
int sr__degree_axis(const char *name);
/* Coordinates of columns named longitude and latitude (lon, lat, ...) whose values fit become
 * degrees, longitude first. */
SR_MUST_CHECK sr_status sr__settle_degrees(sr_context *ctx, const sr_read_options *options,
                                           sr_table *table);

#endif
