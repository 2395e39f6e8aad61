"""Maps in, maps out: the command on rasters and grids made here, opened again with GDAL and xarray."""
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from osgeo import gdal, ogr, osr
except ImportError:
    system = "/usr/bin/python3"  # where the packages of the distribution are
    if sys.executable != system and os.path.exists(system) and "SR_TRIED" not in os.environ:
        os.execve(system, [system, __file__], {**os.environ, "SR_TRIED": "1"})
    print("skipped: needs python3-gdal and python3-numpy")
    sys.exit(77)

COMMAND = os.environ["SR_COMMAND"]
gdal.UseExceptions()
HEIGHT, WIDTH = 60, 80


def run(*arguments):
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (arguments, done.returncode, done.stderr)
    return done.stdout


def build_has(name):
    return name in run("--version", "-v").split("without")[0]


def field(random):
    wave = np.zeros((HEIGHT, WIDTH))
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    for _ in range(6):
        a, b, phase = random.normal(size=3)
        wave += np.sin(0.15 * (a * x + b * y) + 3 * phase)
    return wave


def write_raster(path, bands, nodata, kind):
    reference = osr.SpatialReference()
    reference.SetUTM(33, True)
    reference.SetWellKnownGeogCS("WGS84")
    file = gdal.GetDriverByName("GTiff").Create(path, WIDTH, HEIGHT, len(bands), kind)
    file.SetGeoTransform((400000, 30, 0, 5500000, 0, -30))
    file.SetProjection(reference.ExportToWkt())
    for k, values in enumerate(bands):
        band = file.GetRasterBand(k + 1)
        band.SetNoDataValue(nodata)
        band.WriteArray(values)
    file.FlushCache()


def check_geotiff(folder, random):
    first, second = field(random), field(random)
    cover = np.where(first > 0.5, 30, np.where(second > 0, 20, 10)).astype(float)
    hole = np.zeros((HEIGHT, WIDTH), bool)
    hole[10:20, 30:50] = True
    first[hole] = second[hole] = cover[hole] = -9999
    bands, truth, model, out, shares = (os.path.join(folder, n) for n in ("bands.tif", "cover.tif", "m.model", "map.tif", "shares.tif"))
    write_raster(bands, [first, second], -9999, gdal.GDT_Float32)
    write_raster(truth, [cover], -9999, gdal.GDT_Int16)
    run("train", f"{bands},{truth}", "--target", "cover", "-o", model, "--members", "15", "--plan", "uniform")
    said = json.loads(run("predict", model, bands, "-o", out, "--json"))
    assert said["rows"] == int((~hole).sum()), said
    file, source = gdal.Open(out), gdal.Open(bands)
    band = file.GetRasterBand(1)
    assert file.GetGeoTransform() == source.GetGeoTransform(), file.GetGeoTransform()
    assert file.GetSpatialRef().IsSame(source.GetSpatialRef())
    assert gdal.GetDataTypeName(band.DataType) == "Byte" and band.GetNoDataValue() == 255
    assert band.GetBlockSize() == [256, 256] and file.GetMetadata("IMAGE_STRUCTURE")["COMPRESSION"] == "DEFLATE"
    values = band.ReadAsArray()
    assert (values[hole] == 255).all() and set(np.unique(values[~hole])) <= {10, 20, 30}
    assert (values == cover)[~hole].mean() > 0.95
    colors = band.GetColorTable()
    assert len({colors.GetColorEntry(c) for c in (10, 20, 30)}) == 3
    run("predict", model, bands, "-o", shares, "--proba", "--uncertainty")
    file = gdal.Open(shares)
    names = [file.GetRasterBand(k + 1).GetDescription() for k in range(file.RasterCount)]
    assert names[1:] == ["p_10", "p_20", "p_30", "uncertainty"], names
    cube = file.ReadAsArray()
    assert np.isnan(cube[:, hole]).all()
    assert np.allclose(cube[1:4, ~hole].sum(0), 1, atol=1e-5)
    assert np.allclose(cube[4, ~hole], 1 - cube[1:4, ~hole].max(0), atol=1e-6)
    assert (cube[0, ~hole] == values[~hole]).all()


def notes(*arguments):
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def check_other_scene(folder):
    """Bands are named by their file: those of another scene are taken by position, said once; columns of a table never are."""
    bands, model, first, other = (os.path.join(folder, n) for n in ("bands.tif", "m.model", "map.tif", "other_scene.tif"))
    cube = gdal.Open(bands).ReadAsArray()
    write_raster(other, list(cube), -9999, gdal.GDT_Float32)
    for more in ((), ("--tile", "1")):
        out = os.path.join(folder, "other_map.tif")
        code, said = notes("predict", model, other, "-o", out, *more)
        assert code == 0 and said.count("columns are taken by their position: 'other_scene_b1' as 'bands_b1' and so on") == 1, said
        assert (gdal.Open(out).ReadAsArray() == gdal.Open(first).ReadAsArray()).all()
    code, said = notes("predict", model, bands, "-o", out)
    assert code == 0 and "position" not in said, said
    write_raster(other, [*cube, cube[0]], -9999, gdal.GDT_Float32)  # three bands are not two
    code, said = notes("predict", model, other, "-o", out)
    assert code == 3 and "is not in the data" in said, (code, said)
    half = os.path.join(folder, "bands_b1.tif")  # one name is known, so the other one is missing
    write_raster(half, [cube[0]], -9999, gdal.GDT_Float32)
    write_raster(os.path.join(folder, "else.tif"), [cube[1]], -9999, gdal.GDT_Float32)
    code, said = notes("predict", model, f"{half},{os.path.join(folder, 'else.tif')}", "-o", out)
    assert code == 3 and "'bands_b2'" in said, (code, said)
    rows = os.path.join(folder, "rows.csv")
    with open(rows, "w", encoding="ascii") as file:
        file.write("p,q\n1,2\n3,4\n")
    code, said = notes("predict", model, rows, "-o", os.path.join(folder, "rows_said.csv"))
    assert code == 3 and "is not in the data" in said, (code, said)


def check_labels(folder, random):
    """Fields as polygons in degrees over a raster in meters: trained, then judged on another file of fields."""
    first, second = field(random), field(random)
    bands, model = os.path.join(folder, "scene.tif"), os.path.join(folder, "fields.model")
    write_raster(bands, [first, second], -9999, gdal.GDT_Float32)
    file = gdal.Open(bands)
    degrees, meters = osr.SpatialReference(), file.GetSpatialRef().Clone()
    degrees.ImportFromEPSG(4326)
    degrees.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    meters.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    move = osr.CoordinateTransformation(meters, degrees)
    for name, start in (("train.gpkg", 0), ("test.gpkg", 5)):
        file = ogr.GetDriverByName("GPKG").CreateDataSource(os.path.join(folder, name))
        layer = file.CreateLayer("fields", degrees, ogr.wkbPolygon)
        layer.CreateField(ogr.FieldDefn("crop", ogr.OFTString))
        for row in range(0, HEIGHT - 5, 10):
            for column in range(start, WIDTH - 5, 10):
                ring = ogr.Geometry(ogr.wkbLinearRing)
                for a, b in ((0, 0), (4, 0), (4, 4), (0, 4), (0, 0)):
                    ring.AddPoint_2D(400000 + 30 * (column + a), 5500000 - 30 * (row + b))
                polygon = ogr.Geometry(ogr.wkbPolygon)
                polygon.AddGeometry(ring)
                polygon.Transform(move)
                feature = ogr.Feature(layer.GetLayerDefn())
                feature.SetField("crop", "maize" if first[row + 2, column + 2] > 0 else "wheat")
                feature.SetGeometry(polygon)
                layer.CreateFeature(feature)
        del layer, file
    trained = json.loads(run("train", bands, "--labels", os.path.join(folder, "train.gpkg"), "--target", "crop", "-o", model,
                             "--members", "15", "--plan", "uniform", "--json"))
    asked = {q["name"]: q for q in trained["error"]["questions"]}
    assert asked["fields"]["units"] == 48, asked
    said = json.loads(run("predict", model, bands, "--labels", os.path.join(folder, "test.gpkg"), "--target", "crop", "-o",
                          os.path.join(folder, "cells.csv"), "--json"))
    assert said["rows"] == 6 * 7 * 16 and said["error"] < 0.3, said
    tiles = [os.path.join(folder, name) for name in ("whole.tif", "tiled.tif")]
    run("predict", model, bands, "-o", tiles[0])
    run("predict", model, bands, "-o", tiles[1], "--tile", "1")
    assert open(tiles[0], "rb").read() == open(tiles[1], "rb").read()
    file = gdal.Open(tiles[0])
    names = file.GetRasterBand(1).GetMetadata()
    assert names == {"class_0": "maize", "class_1": "wheat"}, names


def check_use(folder):
    """Where the map of check_geotiff will be used: the same scene, and one whose bands are unlike it."""
    bands, truth, model, page = (os.path.join(folder, n) for n in ("bands.tif", "cover.tif", "use.model", "use.html"))
    file = gdal.Open(bands)
    cube = file.ReadAsArray().astype(float)
    away = os.path.join(folder, "away.tif")
    write_raster(away, [np.where(b == -9999, b, b + 50) for b in cube], -9999, gdal.GDT_Float32)
    os.makedirs(os.path.join(folder, "far"))
    os.replace(away, os.path.join(folder, "far", "bands.tif"))
    for place, words in ((bands, "nearer than anything held out"), (os.path.join(folder, "far", "bands.tif"), "unlike the training rows")):
        told = json.loads(run("train", f"{bands},{truth}", "--target", "cover", "-o", model, "--members", "15", "--plan", "uniform",
                              "--predict-on", place, "--report", page, "--json"))
        use = {q["name"]: q for q in told["error"]["questions"]}["use"]
        assert words in use["reason"], use
        assert (told["error"]["outside"] > 0.9) == (place != bands), told["error"]
        text = open(page, encoding="utf-8").read()
        assert "where it will be used" in text and "Map of the errors" in text and "their classes" in text
        out = os.path.join(folder, "outside.tif")
        run("predict", model, place, "-o", out, "--outside")
        file = gdal.Open(out)
        assert file.GetRasterBand(2).GetDescription() == "outside"
        assert (np.nanmean(file.GetRasterBand(2).ReadAsArray()) > 0.9) == (place != bands)


def check_netcdf(folder, random):
    try:
        import xarray
    except ImportError:
        print("xarray is not here: NetCDF maps are not opened again")
        return
    longitude, latitude = np.arange(-178, 182, 360 / WIDTH), np.linspace(-80, 80, HEIGHT)
    cube = np.stack([field(random) for _ in range(4)]).astype("float32")
    cube[:, 5:15, 5:25] = np.nan
    cube[3] = np.where(np.isnan(cube[0]), np.nan, cube[0] + 0.2 * cube[1])
    sst, model, out = (os.path.join(folder, n) for n in ("sst.nc", "sst.model", "sst_map.nc"))
    data = xarray.Dataset({"sst": (("time", "lat", "lon"), cube)}, {"time": np.arange(4), "lat": latitude, "lon": longitude})
    data.lon.attrs["units"], data.lat.attrs["units"] = "degrees_east", "degrees_north"
    data.to_netcdf(sst)
    run("train", sst, "--target", "sst:4 > median", "-o", model, "--members", "15", "--plan", "uniform")
    run("predict", model, sst, "-o", out, "--proba")
    with xarray.open_dataset(out) as made:
        assert made.attrs["Conventions"].startswith("CF-"), made.attrs
        assert np.allclose(made.lon, longitude) and np.allclose(made.lat, latitude)
        assert made.lon.attrs["units"] == "degrees_east" and made.lat.attrs["standard_name"] == "latitude"
        first = made[[name for name in made.data_vars if name != "crs"][0]]
        assert first.dims == ("lat", "lon") and np.isnan(first.values[5:15, 5:25]).all()
        assert np.isfinite(first.values).sum() == np.isfinite(cube[0]).sum()
    check_next_month(data, cube, folder)
    check_flags(folder, random)


def check_flags(folder, random):
    """Names of several words are one flag each, and the codes say which cell is which."""
    import xarray

    y, x = np.mgrid[0:12, 0:16]
    names = np.array(["broad leaf, old", "sea"])
    truth = names[(random.normal(size=y.shape) + x > 8).astype(int)]
    rows, cube, out, model = (os.path.join(folder, n) for n in ("flags.csv", "flags.nc", "flags_said.nc", "flags.model"))
    with open(rows, "w", encoding="ascii") as file:
        file.write("a,b,cover\n")
        for i, j in zip(y.ravel(), x.ravel()):
            file.write(f'{j},{i},"{truth[i, j]}"\n')
    xarray.Dataset({"a": (("y", "x"), x.astype("float32")), "b": (("y", "x"), y.astype("float32"))},
                   {"y": np.arange(12.0), "x": np.arange(16.0)}).to_netcdf(cube)
    run("train", rows, "--target", "cover", "-o", model, "--members", "9", "--plan", "uniform")
    run("predict", model, cube, "-o", out)
    with xarray.open_dataset(out) as made:
        flags = next(made[v] for v in made.data_vars if "flag_meanings" in made[v].attrs)
        assert flags.attrs["flag_meanings"].split() == ["broad_leaf__old", "sea"], flags.attrs
        assert len(flags.attrs["flag_values"]) == 2
        assert (flags.values[:, -1] == 1).all() and (flags.values[:, 0] == 0).all()


def check_next_month(data, cube, folder):
    """Steps that moved by one are those of the model by position: half of their names say otherwise."""
    sst, moved, model = (os.path.join(folder, n) for n in ("sst.nc", "moved.nc", "step.model"))
    later = data.copy(deep=True)
    later["sst"].values[1:3] = cube[0:2]
    later.to_netcdf(moved)
    run("train", sst, "--target", "sst:4 > median", "--variables", "sst:1-2", "-o", model, "--members", "15", "--plan", "uniform")
    said = []
    later_target = os.path.join(folder, "later_target.model")
    run("train", sst, "--target", "sst:3 > median", "--variables", "sst:1-2", "-o", later_target, "--members", "15", "--plan", "uniform")
    code, told = notes("predict", later_target, sst, "--variables", "sst:2-3", "-o", os.path.join(folder, "step.csv"))
    assert code == 0 and "'sst:2' as 'sst:1'" in told, (code, told)  # the step that was the target is a feature now
    for file, steps in ((sst, "sst:1-2"), (moved, "sst:2-3")):
        out = os.path.join(folder, "step.csv")
        code, told = notes("predict", model, file, "--variables", steps, "-o", out)
        assert code == 0 and ("'sst:2' as 'sst:1'" in told) == (file == moved), told
        said.append(open(out, encoding="utf-8").read())
    assert said[0] == said[1]
    code, told = notes("predict", model, sst, "--variables", "sst:1,sst:3", "-o", out)  # no shift: the second is missing
    assert code == 3 and "'sst:2'" in told, (code, told)


def main():
    random = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        if build_has("gdal"):
            check_geotiff(folder, random)
            check_other_scene(folder)
            check_labels(folder, random)
            check_use(folder)
        if build_has("netcdf"):
            check_netcdf(folder, random)


main()
